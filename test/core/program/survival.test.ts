import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import test from 'ava';
import { request } from 'undici';
import { addressIn, main, minimalPipeline, run, startInto } from './child.js';

const nowhere = '-backend=http://127.0.0.1:9';
const serve = ['serve', `-pipeline=${minimalPipeline}`, nowhere];

async function lostRecords(url: string): Promise<number> {
  const { body } = await request(`${url}/metrics`);
  return Number(
    /^ref_proxy_log_records_lost_total\{reason="write_failed"\} (\d+)/m.exec(await body.text())?.[1],
  );
}

for (const buffered of ['true', 'false']) {
  test.serial(
    `a full disk under the log costs records, which are counted (-log-buffered=${buffered})`,
    async (t) => {
      const flags = [`-log-buffered=${buffered}`, '-server.register-instrumentation=true'];
      const { child, url, exited } = await startInto('/dev/full', '/alive', ...serve, ...flags);
      t.teardown(() => child.kill('SIGKILL'));
      for (let index = 0; index < 5; index += 1) {
        const { statusCode, body } = await request(`${url}/no-such-path`);
        t.is(statusCode, 404);
        await body.dump();
      }
      t.true((await lostRecords(url)) >= 5);
      child.kill('SIGTERM');
      t.deepEqual(await exited, [0, null]);
    },
  );
}

test.serial('the embedded backend outlives a full disk under its output', async (t) => {
  const { child, exited } = await startInto('/dev/full', '/health', 'backend');
  child.kill('SIGTERM');
  // Its output was lost, which the exit status shows.
  t.deepEqual(await exited, [1, null]);
});

test.serial('a log that nobody reads any more ends nothing', async (t) => {
  const child = run([...serve, '-listen=127.0.0.1:0'], ['ignore', 'pipe', 'ignore']);
  const exited = once(child, 'exit');
  const url = await addressIn(child.stdout ?? t.fail());
  child.stdout?.destroy();
  for (let index = 0; index < 3; index += 1) t.is((await request(`${url}/none`)).statusCode, 404);
  child.kill('SIGTERM');
  t.deepEqual(await exited, [0, null]);
});

test.serial(
  'a log whose reader has stopped reading holds neither requests nor the end of the process',
  async (t) => {
    const child = run([...serve, '-listen=127.0.0.1:0'], ['ignore', 'pipe', 'ignore']);
    const exited = once(child, 'exit');
    const url = await addressIn(child.stdout ?? t.fail());
    child.stdout?.pause();
    // More than fits into a pipe.
    const path = `/${'x'.repeat(2_000)}`;
    for (let index = 0; index < 200; index += 1) await (await request(url + path)).body.dump();
    child.kill('SIGTERM');
    t.deepEqual(await exited, [0, null]);
  },
);

test.serial('a defect that nothing catches ends the process with its last words in the log', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'broken.js'),
    `export default {
  kind: 'endpoint', name: 'broken', summary: 'Breaks.', schema: { type: 'object' },
  create: () => ({ routes: new Map([['alive', () => { setImmediate(() => Promise.reject(new Error('nobody catches me'))); return new Promise(() => {}); }]]) }),
};
`,
  );
  await writeFile(
    join(folder, 'last.js'),
    `export default {
  kind: 'stage', name: 'last', summary: 'Ends.', needs: [], gives: [], rest: 'never', schema: { type: 'object' },
  create: () => ({ handle: () => { throw new Error('nobody asks'); } }),
};
`,
  );
  await writeFile(
    join(folder, 'site.yaml'),
    'version: 1\nstages:\n  - use: ./last.js\nendpoints:\n  - use: ./broken.js\n',
  );
  const child = run(
    ['serve', `-pipeline=${join(folder, 'site.yaml')}`, '-listen=127.0.0.1:0'],
    ['ignore', 'pipe', 'inherit'],
  );
  const closed = once(child, 'close');
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const url = await addressIn(child.stdout ?? t.fail());
  child.stdout?.resume();
  await t.throwsAsync(request(`${url}/alive`));
  t.deepEqual(await closed, [1, null]);
  const last: unknown = JSON.parse(said.trimEnd().split('\n').at(-1) ?? '');
  t.like(last, { 'severity.text': 'ERROR', error: { message: 'nobody catches me' } });
});

test.serial('a command that cannot say what it has to fails, without a stack', async (t) => {
  const child = spawn('sh', ['-c', `exec "${process.execPath}" "${main}" flags > /dev/full`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  t.deepEqual(await once(child, 'close'), [1, null]);
  t.is(err, '');
});

const persistent = ['patterns-persist-path', 'disk-cache-path'];
for (const [path, reason] of [
  ['/no-such-folder/file', 'its directory does not exist'],
  ['/proc/file', 'cannot create a file in its directory|its folder: permission denied'],
  ['/proc', 'it is a directory'],
] as const) {
  test.serial(`serve refuses to start when it cannot write what it is to keep in ${path}`, async (t) => {
    const flags = persistent.map((flag) => `-${flag}=${path}`);
    const child = run(
      ['serve', nowhere, '-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0', ...flags],
      ['ignore', 'ignore', 'pipe'],
    );
    let err = '';
    child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
    t.deepEqual(await once(child, 'close'), [1, null]);
    for (const flag of persistent)
      t.regex(err, new RegExp(`error R061 flag -${flag} "${path}" cannot be written: (?:${reason})`));
  });
}

for (const [path, reason] of [
  ['/proc/nowhere', 'cannot create a directory in /proc'],
  ['/proc/nowhere/deeper', 'cannot create a directory in /proc'],
  ['/dev/null', 'a file with that name already exists'],
  ['/dev/null/rows', 'a part of the path is a file, not a directory'],
] as const) {
  test.serial(`the embedded backend refuses to keep rows in ${path}`, async (t) => {
    const child = run(['backend', '-listen=127.0.0.1:0', `-data-path=${path}`], ['ignore', 'ignore', 'pipe']);
    let err = '';
    child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
    t.deepEqual(await once(child, 'close'), [1, null]);
    t.is(err, `ref-proxy backend: -data-path: cannot keep rows in ${path}: ${reason}\n`);
  });
}

/** A pipeline with a service whose start or stop hangs until it is abandoned. */
async function hangingIn(folder: string, phase: 'start' | 'stop'): Promise<string> {
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'hanging.js'),
    `export default {
  kind: 'service', name: 'hanging', summary: 'Hangs.', schema: { type: 'object' },
  create: () => ({ ${phase}: () => { console.error('${phase}'); return new Promise(() => setInterval(() => {}, 1000)); } }),
};
`,
  );
  const file = join(folder, 'site.yaml');
  const minimal = await readFile(minimalPipeline, 'utf8');
  await writeFile(file, `${minimal}\nservices:\n  - use: ./hanging.js\n`);
  return file;
}

/** Waits for a line and ignores all output before it. */
async function told(output: Readable, wanted: string): Promise<void> {
  for await (const line of createInterface({ input: output })) if (line === wanted) return;
}

test.serial('SIGTERM during the start ends the start', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = await hangingIn(folder, 'start');
  const child = run(
    ['serve', `-pipeline=${file}`, '-listen=127.0.0.1:0', nowhere],
    ['ignore', 'ignore', 'pipe'],
  );
  const exited = once(child, 'exit');
  await told(child.stderr ?? t.fail(), 'start');
  child.kill('SIGTERM');
  t.deepEqual(await exited, [0, null]);
});

test.serial('signals until nobody waits for a stop any more end the process at once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = await hangingIn(folder, 'stop');
  const child = run(
    ['serve', `-pipeline=${file}`, '-listen=127.0.0.1:0', nowhere],
    ['ignore', 'pipe', 'pipe'],
  );
  const exited = once(child, 'exit');
  await addressIn(child.stdout ?? t.fail());
  child.stdout?.resume();
  child.kill('SIGTERM');
  await told(child.stderr ?? t.fail(), 'stop');
  const again = setInterval(() => child.kill('SIGTERM'), 100);
  t.deepEqual(await exited, [1, null]);
  clearInterval(again);
});

test.serial(
  'the embedded backend refuses rows it cannot keep, and keeps them as soon as there is room',
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
    t.teardown(() => rm(folder, { recursive: true }));
    // A limit on file sizes simulates a full disk.
    const child = spawn(
      'sh',
      [
        '-c',
        `ulimit -S -f 1; exec "${process.execPath}" "${main}" backend -listen=127.0.0.1:0 "-data-path=${folder}"`,
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const exited = once(child, 'exit');
    const url = await addressIn(child.stdout);
    const push = async (name: string): Promise<number> => {
      const body = JSON.stringify({
        _time: new Date().toISOString(),
        _msg: `${name} ${'x'.repeat(2_000)}`,
        app: 'a',
      });
      const answer = await request(`${url}/insert/jsonline?_stream_fields=app`, { method: 'POST', body });
      await answer.body.dump();
      return answer.statusCode;
    };
    t.deepEqual([await push('first'), await push('second')], [500, 500]);
    await once(spawn('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:']), 'exit');
    t.is(await push('third'), 200);
    child.kill('SIGTERM');
    t.deepEqual(await exited, [0, null]);
    const kept = await readFile(join(folder, 'rows.jsonl'), 'utf8');
    t.deepEqual(kept.match(/first|second|third/g), ['first', 'second', 'third']);
  },
);
