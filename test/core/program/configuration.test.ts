import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { addressIn, main, minimalPipeline } from './child.js';

/** Nothing of this machine's environment counts. */
type Env = Readonly<Record<string, string>>;

/** A program that runs to its end. */
async function run(
  env: Env,
  ...args: string[]
): Promise<{ readonly status: number | null; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  await once(child, 'close');
  return { status: child.exitCode, out, err };
}

interface Serving {
  readonly url: string;
  /** What it has written to stdout so far. */
  readonly out: () => string;
  readonly err: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Ends it; resolves with all that it has written. */
  readonly stop: () => Promise<string>;
}

/** A program that serves until the test is over. */
async function serve(t: ExecutionContext, env: Env, ...args: string[]): Promise<Serving> {
  const child = spawn(process.execPath, [main, 'serve', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const closed = once(child, 'close');
  const stop = async (): Promise<string> => {
    child.kill('SIGTERM');
    await closed;
    return out + err;
  };
  t.teardown(stop);
  const url = await addressIn(child.stdout);
  return { url, out: () => out, err: () => err, kill: (signal) => child.kill(signal), stop };
}

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}

async function statusOf(url: string, headers: Env = {}): Promise<number> {
  const { statusCode, body } = await request(url, { headers, reset: true });
  await body.dump();
  return statusCode;
}

const onLoopback: Env = {
  REF_PROXY_PIPELINE: minimalPipeline,
  REF_PROXY_LISTEN: '127.0.0.1:0',
  REF_PROXY_BACKEND: 'http://127.0.0.1:9',
};

test.serial('every flag is read from its environment variable', async (t) => {
  const { url, stop } = await serve(t, { ...onLoopback, REF_PROXY_SERVER_REGISTER_INSTRUMENTATION: 'true' });
  t.is(await statusOf(`${url}/metrics`), 200);
  const records = await stop();
  t.true(records.includes(`"pipeline.file":"${minimalPipeline}"`));
});

test.serial('a flag wins over its variable, and a specified variable over that of the flag', async (t) => {
  const env = { ...onLoopback, LISTEN_ADDR: '127.0.0.1:0', REF_PROXY_LISTEN: '192.0.2.1:1' };
  const { url } = await serve(t, { ...env, REF_PROXY_PIPELINE: 'none.yaml' }, `-pipeline=${minimalPipeline}`);
  t.is(await statusOf(`${url}/alive`), 200);
});

test.serial('a variable with a bad value is told by its name', async (t) => {
  const { status, err } = await run({ ...onLoopback, REF_PROXY_MAX_LINES: 'many' }, 'serve');
  t.is(status, 1);
  t.regex(err, /^error R008 environment variable REF_PROXY_MAX_LINES must be a whole number, not "many"$/m);
  const watch = await run({ ...onLoopback, REF_PROXY_PIPELINE_WATCH: 'perhaps' }, 'serve');
  t.is(watch.status, 2);
  t.is(
    watch.err,
    'ref-proxy serve: environment variable REF_PROXY_PIPELINE_WATCH must be true or false, not "perhaps"\n',
  );
});

test.serial('a variable that belongs to no flag is an error with the one that was meant', async (t) => {
  const { status, err } = await run({ ...onLoopback, REF_PROXY_SERVER_ADMIN_AUTH_TOKN: 'x1y2z3' }, 'serve');
  t.is(status, 1);
  t.regex(err, /^error R038 environment variable REF_PROXY_SERVER_ADMIN_AUTH_TOKN belongs to no flag$/m);
  t.regex(err, /did you mean REF_PROXY_SERVER_ADMIN_AUTH_TOKEN\?/);
  t.notRegex(err, /x1y2z3/);
});

test.serial('variables of Kubernetes and of the pipeline file need no flag', async (t) => {
  const file = join(await folderOf(t), 'site.yaml');
  await writeFile(
    file,
    `version: 1
stages:
  - use: tenancy
  - use: translate
  - use: backend
    with: { url: '\${REF_PROXY_OF_SITE}' }
  - use: response-shape
endpoints:
  - use: reference-api
`,
  );
  const env = {
    REF_PROXY_OF_SITE: 'http://127.0.0.1:9',
    REF_PROXY_SERVICE_HOST: '10.0.0.1',
    REF_PROXY_SERVICE_PORT: '3100',
    REF_PROXY_SERVICE_PORT_HTTP: '3100',
    REF_PROXY_PORT: 'tcp://10.0.0.1:3100',
    REF_PROXY_PORT_3100_TCP_ADDR: '10.0.0.1',
    REF_PROXY_PEERS_PORT_3100_TCP: 'tcp://10.0.0.2:3100',
  };
  t.deepEqual(await run(env, 'check', file), {
    status: 0,
    out: '',
    err: '1 file checked, no findings\n',
  });
  t.is((await run({ ...env, REF_PROXY_OF_SIT: 'x' }, 'check', file)).status, 1);
});
