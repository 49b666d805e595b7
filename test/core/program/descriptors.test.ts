import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import { Agent, request } from 'undici';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { addressIn, main } from './child.js';

const limit = 160;

/** Reads the output of the process until a line contains a text. */
class Said {
  #text = '';
  readonly #output: Readable;

  constructor(output: Readable) {
    this.#output = output;
    output.on('data', (chunk: Buffer) => (this.#text += chunk.toString()));
  }

  async line(wanted: string): Promise<object> {
    for (;;) {
      const found = this.#text.split('\n').find((line) => line.endsWith('}') && line.includes(wanted));
      if (found !== undefined) return JSON.parse(found) as object;
      if (this.#output.readableEnded) throw new Error(`the process ended without saying: ${wanted}`);
      await Promise.race([once(this.#output, 'data'), once(this.#output, 'end')]);
    }
  }
}

/** Starts the proxy with a limit on file descriptors. */
async function serveUnder(t: ExecutionContext, args: readonly string[]) {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  const flags = [
    `-backend=${backend.url}`,
    '-server.register-instrumentation=true',
    '-listen=127.0.0.1:0',
    '-admin-listen=127.0.0.1:0',
    ...args,
  ];
  const child = spawn(
    'sh',
    ['-c', `ulimit -n ${limit}; exec "$@"`, 'sh', process.execPath, main, 'serve', ...flags],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.teardown(() => child.kill('SIGKILL'));
  const said = new Said(child.stdout);
  const url = await addressIn(child.stdout);
  child.stdout.resume();
  return { child, said, url };
}

async function metric(url: string, name: string, dispatcher?: Agent): Promise<number> {
  const { body } = await request(`${url}/metrics`, dispatcher === undefined ? {} : { dispatcher });
  const text = await body.text();
  const line = text.split('\n').find((each) => each.startsWith(`ref_proxy_${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** Opens connections and sends one request on each; returns those on which the server responded successfully. */
async function openMany(url: string, count: number): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url);
  const kept: Socket[] = [];
  await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.write('GET /loki/api/v1/status/buildinfo HTTP/1.1\r\nHost: a\r\n\r\n');
      const answer = new Promise<boolean>((resolve) => {
        socket.once('data', (chunk: Buffer) => resolve(chunk.toString().startsWith('HTTP/1.1 200')));
        socket.once('close', () => resolve(false));
      });
      if (await answer) kept.push(socket);
    }),
  );
  return kept;
}

test.serial('connections of clients leave descriptors for the rest of the work', async (t) => {
  const { child, said, url } = await serveUnder(t, ['-rate-limit-per-second=0']);
  const kept = await openMany(url, 2 * limit);
  t.is(kept.length, limit / 2);
  t.like(await said.line('refusing connections'), {
    'severity.text': 'ERROR',
    listener: '-listen',
    'connections.max': limit / 2,
    'process.max_fds': limit,
  });
  const [first, ...others] = kept;
  // A query needs connections to the backend as well.
  const answered = once(first ?? t.fail(), 'data');
  first?.write('GET /loki/api/v1/labels HTTP/1.1\r\nHost: a\r\n\r\n');
  t.regex(String((await answered)[0]), /^HTTP\/1\.1 200/);
  for (const socket of [...kept.slice(0, 1), ...others]) {
    const closed = once(socket, 'close');
    socket.end();
    await closed;
  }
  t.is((await openMany(url, 1)).length, 1);
  t.is(await metric(url, 'http_connections_cut_total{reason="descriptors"}'), 2 * limit - limit / 2);
  t.is(await metric(url, 'process_max_fds'), limit);
  child.kill('SIGTERM');
  t.deepEqual(await once(child, 'exit'), [0, null]);
});

test.serial(
  'a process without a descriptor outlives its timers, and goes on when it has some again',
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
    t.teardown(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(
      join(folder, 'opening.js'),
      `import { open } from 'node:fs/promises';
import { openSync, closeSync } from 'node:fs';
export default {
  kind: 'service', name: 'opening', summary: 'Opens files.', schema: { type: 'object' },
  create: () => ({ start: () => {
    setInterval(() => closeSync(openSync('/dev/null')), 20).unref();
    setInterval(() => void open('/dev/null').then((file) => file.close()), 20).unref();
  } }),
};
`,
    );
    await writeFile(
      join(folder, 'site.yaml'),
      `version: 1
stages: [{ use: tenancy }, { use: peer-cache }, { use: translate }, { use: backend }, { use: response-shape }]
endpoints: [{ use: reference-api }, { use: status }]
services: [{ use: ./opening.js }]
`,
    );
    const { child, said, url } = await serveUnder(t, [`-pipeline=${join(folder, 'site.yaml')}`]);
    const dispatcher = new Agent({
      connections: 1,
      pipelining: 1,
      keepAliveTimeout: 600_000,
      keepAliveMaxTimeout: 600_000,
    });
    t.teardown(() => dispatcher.destroy());
    const ask = async (path: string): Promise<number> => {
      const { statusCode, body } = await request(url + path, { dispatcher });
      await body.dump();
      return statusCode;
    };
    const allow = async (count: number): Promise<void> => {
      await once(spawn('prlimit', [`--pid=${child.pid ?? 0}`, `--nofile=${count}:`]), 'exit');
    };
    t.is(await ask('/loki/api/v1/status/buildinfo'), 200);
    // Fewer than are open.
    await allow(8);
    t.like(await said.line('the process has no free file descriptor'), { 'severity.text': 'ERROR' });
    t.is(await ask('/loki/api/v1/status/buildinfo'), 200);
    t.true((await metric(url, 'system_errors_total{code="EMFILE"}', dispatcher)) > 0);
    const refused = await request(`${url}/loki/api/v1/labels`, { dispatcher });
    t.is(refused.statusCode, 503);
    t.regex(await refused.body.text(), /too many open files: .*\(ulimit -n\)/);
    // A connection that is opened now waits.
    const waiting = openMany(url, 1);
    t.is(await ask('/loki/api/v1/status/buildinfo'), 200);
    await allow(limit);
    t.is((await waiting).length, 1);
    t.is(await ask('/loki/api/v1/labels'), 200);
    t.is(child.exitCode, null);
    child.kill('SIGTERM');
    t.deepEqual(await once(child, 'exit'), [0, null]);
  },
);
