/** Workers that crash, that stop, and that cannot start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Agent, request } from 'undici';
import { WebSocket } from 'ws';
import { main } from './child.js';
import {
  askBoth,
  backendThat,
  backendWithLines,
  get,
  metrics,
  push,
  seriesIn,
  startWorkers,
  stop,
} from './workers-under.js';

const query = encodeURIComponent('{service_name="shop"}');
const lines = `/loki/api/v1/query_range?query=${query}&limit=100`;
const labels = '/loki/api/v1/labels';
const asked =
  'requests_total{system="ref",direction="downstream",endpoint="labels",route="/loki/api/v1/labels",status="200"}';

interface Load {
  /** Number of connections that broke during a request. */
  broken: number;
  answered: number;
  readonly others: Set<number>;
  end(): Promise<void>;
}

/** Sends requests over a few connections, as fast as responses arrive. */
function load(url: string): Load {
  let isOver = false;
  const client = new Agent({ connections: 8, pipelining: 1 });
  const counts = { broken: 0, answered: 0, others: new Set<number>() };
  const loops = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      try {
        const { statusCode, body } = await request(url + labels, { dispatcher: client });
        await body.dump();
        counts.answered += 1;
        if (statusCode !== 200) counts.others.add(statusCode);
      } catch {
        counts.broken += 1;
      }
    }
  });
  const end = async (): Promise<void> => {
    isOver = true;
    await Promise.all(loops);
    await client.close();
  };
  return Object.assign(counts, { end });
}

/** Waits until a load has had this number of further responses. */
async function answers(of: Load, more: number): Promise<void> {
  const until = of.answered + more;
  while (of.answered < until) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Opens tails over connections of their own, one after another: if many are opened at once, a busy worker may take them all. */
async function openTails(url: string): Promise<readonly WebSocket[]> {
  const sockets: WebSocket[] = [];
  for (let at = 0; at < 24; at += 1) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/loki/api/v1/tail?query=${query}`);
    await once(socket, 'open');
    sockets.push(socket);
  }
  return sockets;
}

test.serial('a worker that is killed is replaced, and nothing but its own connections ends', async (t) => {
  const backend = await backendWithLines();
  const under = await startWorkers(backend.url);
  try {
    await askBoth(under, lines);
    const sockets = await openTails(under.url);
    const closed = new Set<WebSocket>();
    const got = new Map<WebSocket, string>();
    for (const socket of sockets) {
      socket.on('close', () => closed.add(socket)).on('error', () => closed.add(socket));
      socket.on('message', (data: Buffer) => got.set(socket, (got.get(socket) ?? '') + data.toString()));
    }
    const clients = load(under.url);
    await answers(clients, 100);
    const before = seriesIn(await metrics(under), asked);
    const [, killed] = under.pids();
    t.truthy(killed);
    process.kill(killed ?? 0, 'SIGKILL');
    const [record] = await under.logged(({ body }) => body === 'a worker exited; starting a replacement');
    t.is(record?.['worker.id'], 2);
    const [, again] = await under.logged(
      (each) => each['body'] === 'worker serving' && each['worker.id'] === 2,
      2,
    );
    t.not(again?.['process.pid'], killed);
    await answers(clients, 100);
    await clients.end();
    t.deepEqual([...clients.others], []);
    t.true(clients.broken <= 8, `${clients.broken} requests broke`);
    const text = await metrics(under);
    t.is(seriesIn(text, 'worker_restarts_total'), 1);
    t.is(seriesIn(text, 'workers'), 2);
    t.true(seriesIn(text, asked) >= before, 'counts do not fall');
    t.is((await get(`${under.url}/ready`)).text, 'ready');
    await stillTail(t, { sockets, closed, got }, backend.url);
    await askBoth(under, lines);
    for (const socket of sockets) socket.terminate();
    t.deepEqual(await stop(under), [0, null]);
  } finally {
    under.child.kill('SIGKILL');
    await backend.close();
  }
});

interface Tails {
  readonly sockets: readonly WebSocket[];
  readonly closed: ReadonlySet<WebSocket>;
  readonly got: ReadonlyMap<WebSocket, string>;
}

/** Checks that the tails of the surviving worker continue. */
async function stillTail(t: ExecutionContext, { sockets, closed, got }: Tails, url: string): Promise<void> {
  const open = sockets.filter((socket) => !closed.has(socket));
  t.true(open.length > 0);
  await push(url, ['still'], BigInt(Date.now()) * 1_000_000n);
  while (!open.every((socket) => got.get(socket)?.includes('still') === true))
    await new Promise((resolve) => setTimeout(resolve, 10));
}

test.serial('SIGTERM lets requests of every worker finish', async (t) => {
  const held: (() => void)[] = [];
  const backend = await backendThat((call, response) => {
    const answer = (): void =>
      void response.setHeader('Content-Type', 'application/json').end('{"values":[]}');
    if (call.url === '/select/logsql/streams') held.push(answer);
    else answer();
  });
  const under = await startWorkers(backend.url);
  const client = new Agent({ connections: 16, pipelining: 1 });
  const end = Math.floor(Date.now() / 1000);
  const statuses = Array.from({ length: 16 }, async (_, at) => {
    const path = `${under.url}/loki/api/v1/series?match[]=${query}&start=${end - 60 - at}&end=${end}`;
    const { statusCode, headers, body } = await request(path, { dispatcher: client });
    await body.dump();
    return `${statusCode} ${String(headers['connection'])}`;
  });
  // The scrape itself is one of them.
  while (seriesIn(await metrics(under), 'active_requests') < 17);
  const exited = stop(under);
  // New connections are no longer accepted.
  while (await isOpen(under.url));
  const timer = setInterval(() => {
    for (const answer of held.splice(0)) answer();
  }, 1);
  t.deepEqual([...new Set(await Promise.all(statuses))], ['200 close']);
  t.deepEqual(await exited, [0, null]);
  clearInterval(timer);
  await client.close();
  backend.server.closeAllConnections();
  backend.server.close();
});

async function isOpen(url: string): Promise<boolean> {
  try {
    await get(`${url}/alive`);
    return true;
  } catch {
    return false;
  }
}

async function failing(
  ...flags: readonly string[]
): Promise<{ readonly status: unknown; readonly err: string }> {
  const args = ['serve', '-workers=2', '-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0', ...flags];
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.on('data', (part: Buffer) => (err += part.toString()));
  const [status] = (await once(child, 'close')) as readonly unknown[];
  return { status, err };
}

test.serial('what keeps a worker from starting ends the whole, and is told once', async (t) => {
  const { status, err } = await failing(
    '-backend=http://127.0.0.1:9',
    '-tls-cert-file=/dev/null',
    '-tls-key-file=/dev/null',
  );
  t.is(status, 1);
  t.is(err.match(/ref-proxy serve: .*-tls-/g)?.length, 1, err);
});

test.serial('a replacement that would run another pipeline than the others does not serve', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'workers-'));
  const file = join(folder, 'pipeline.yaml');
  const text = (extra: string): string =>
    `version: 1\nstages:\n  - use: tenancy\n${extra}  - use: translate\n  - use: backend\n  - use: response-shape\nendpoints:\n  - use: reference-api\n  - use: status\n`;
  await writeFile(file, text('  - use: guard\n'));
  const under = await startWorkers('http://127.0.0.1:9', `-pipeline=${file}`);
  try {
    await writeFile(file, text(''));
    process.kill(under.pids()[0] ?? 0, 'SIGKILL');
    t.deepEqual(await under.exited, [1, null]);
    const [record] = await under.logged(({ body }) => body === 'shutting down: workers crash repeatedly');
    t.is(record?.['worker.id'], 1);
  } finally {
    under.child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});

test.serial('the embedded backend is refused with several workers', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'workers-'));
  const file = join(folder, 'pipeline.yaml');
  await writeFile(
    file,
    'version: 1\nstages:\n  - use: tenancy\n  - use: translate\n  - use: backend\n  - use: response-shape\nendpoints:\n  - use: reference-api\nservices:\n  - use: embedded-backend\n',
  );
  const { status, err } = await failing(`-pipeline=${file}`, '-backend=http://127.0.0.1:9428');
  t.is(status, 1);
  t.regex(err, /error R053 plugin "embedded-backend" cannot run in several workers \(flag -workers is 2\)/);
  await rm(folder, { recursive: true });
});
