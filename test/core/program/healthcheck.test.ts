import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { packageRoot } from '../../../core/kernel/options/index.js';
import { runProgram } from '../../../core/program/program.js';

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function healthcheck(
  env: Readonly<Record<string, string>>,
  ...flags: readonly string[]
): Promise<Ended> {
  let [out, err] = ['', ''];
  const io = { out: (text: string) => (out += text), err: (text: string) => (err += text), env };
  return { status: await runProgram(['healthcheck', ...flags], io), out, err };
}

/** The responses of a listener that is alive but not ready. */
const answers: ReadonlyMap<string, readonly [number, string]> = new Map([
  ['/alive', [200, 'alive']],
  ['/ready', [503, 'backend not ready\n']],
  ['/elsewhere', [200, 'ready']],
]);

async function portOf(t: ExecutionContext, server: Server): Promise<number> {
  server.on('request', (asked, answer) => {
    const [status, body] = answers.get(asked.url ?? '') ?? [404, ''];
    answer.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  // A server that listens on TCP has an AddressInfo.
  return (server.address() as AddressInfo).port;
}

const quiet = { status: 0, out: '', err: '' };

test.serial('healthcheck asks the listener that flags, environment or file name', async (t) => {
  const port = await portOf(t, createServer());
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'site.yaml');
  await writeFile(file, `server:\n  listen: \${LISTEN}\nstages:\n  - use: ./not-loaded.js\n`);
  t.deepEqual(await healthcheck({}, '-alive', `-listen=:${port}`), quiet);
  t.deepEqual(await healthcheck({ LISTEN_ADDR: `0.0.0.0:${port}` }, '-alive'), quiet);
  t.deepEqual(await healthcheck({ LISTEN: `:${port}` }, '-alive', `-pipeline=${file}`), quiet);
  t.deepEqual(await healthcheck({}, `-url=http://127.0.0.1:${port}/elsewhere`), quiet);
});

test.serial('healthcheck says in one line why a proxy is not ready', async (t) => {
  const server = createServer();
  const port = await portOf(t, server);
  const listen = `-listen=127.0.0.1:${port}`;
  t.deepEqual(await healthcheck({}, listen), {
    status: 1,
    out: '',
    err: `ref-proxy healthcheck: http://127.0.0.1:${port}/ready returned 503: backend not ready\n`,
  });
  await new Promise((resolve) => server.close(resolve));
  const { status, err } = await healthcheck({}, listen);
  t.is(status, 1);
  t.regex(err, /^ref-proxy healthcheck: http:\S+\/ready cannot be reached: connect ECONNREFUSED .*\n$/);
});

test.serial('healthcheck asks a listener with TLS, whatever name its certificate has', async (t) => {
  const [cert, key] = ['server.pem', 'server.key'].map((name) => join(packageRoot(), 'test/data/tls', name));
  const server = createTlsServer({ cert: await readFile(cert ?? ''), key: await readFile(key ?? '') });
  const port = await portOf(t, server);
  const flags = [`-listen=:${port}`, `-tls-cert-file=${cert ?? ''}`, `-tls-key-file=${key ?? ''}`];
  t.deepEqual(await healthcheck({}, '-alive', ...flags), quiet);
  t.is((await healthcheck({}, '-alive', `-listen=:${port}`)).status, 1);
});

test.serial('healthcheck refuses what names no listener', async (t) => {
  for (const [flag, reason] of [
    ['-listen=:0', '-listen=:0 has no port to check; use -url'],
    ['-url=ready', '-url=ready is not a URL such as http://127.0.0.1:3100/ready'],
    ['-lisen=:1', 'unknown flag -lisen, did you mean -listen?'],
  ] as const)
    t.deepEqual(await healthcheck({}, flag), {
      status: 2,
      out: '',
      err: `ref-proxy healthcheck: ${reason}\n`,
    });
});
