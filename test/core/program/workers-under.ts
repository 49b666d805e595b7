import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Agent, request, type Dispatcher } from 'undici';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { main } from './child.js';

export type LogRecord = Readonly<Record<string, unknown>>;

/** A proxy with several processes. */
export interface UnderTest {
  /** The first process. */
  readonly child: ChildProcess;
  readonly url: string;
  readonly adminUrl: string;
  /** Log records of all processes so far, in order. */
  readonly records: readonly LogRecord[];
  readonly exited: Promise<readonly unknown[]>;
  /** Process ids of the workers, ordered by worker number. */
  pids(): readonly number[];
  /** Resolves with the matching log records once there are at least `count` of them. */
  logged(isIt: (record: LogRecord) => boolean, count?: number): Promise<readonly LogRecord[]>;
}

/** Starts `ref-proxy serve -workers=...` and waits until all serve. */
export async function startWorkers(backendUrl: string, ...flags: readonly string[]): Promise<UnderTest> {
  const child = spawn(
    process.execPath,
    [
      main,
      'serve',
      '-workers=2',
      '-listen=127.0.0.1:0',
      '-admin-listen=127.0.0.1:0',
      `-backend=${backendUrl}`,
      '-server.register-instrumentation=true',
      // No limits: every request has a log record, and the tests may send any number of requests.
      '-log-rate-threshold=0',
      '-rate-limit-per-second=0',
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  const records: LogRecord[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    // Every line must be a whole record, although several processes write them.
    records.push(JSON.parse(line) as LogRecord);
    for (const look of waiting) look();
  });
  const logged = (isIt: (record: LogRecord) => boolean, count = 1): Promise<readonly LogRecord[]> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = records.filter(isIt);
        if (found.length < count) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const serving = await Promise.race([logged(({ body }) => body === 'serving'), exited.then(() => [])]);
  const { main: url, admin: adminUrl } = (serving[0] ?? {}) as Readonly<Record<string, string>>;
  const pids = (): readonly number[] => pidsIn(records);
  return { child, records, exited, logged, pids, url: url ?? '', adminUrl: adminUrl ?? '' };
}

/** Stops the proxy as a service manager does. */
export async function stop({ child, exited }: UnderTest): Promise<readonly unknown[]> {
  child.kill('SIGTERM');
  return exited;
}

/** Process ids of the workers that served last, ordered by worker number. */
function pidsIn(records: readonly LogRecord[]): readonly number[] {
  const pids: number[] = [];
  for (const record of records)
    if (record['body'] === 'worker serving')
      pids[Number(record['worker.id']) - 1] = Number(record['process.pid']);
  return pids;
}

/** A GET over a new connection, so any worker may answer. */
export async function get(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const { statusCode, body } = await request(url, { headers, reset: true });
  return { status: statusCode, text: await body.text() };
}

/** Persistent connections, which are distributed among the workers. */
export function openConnections(connections: number): Dispatcher {
  return new Agent({ connections, pipelining: 1 });
}

/** The value of a series of /metrics; 0 if it does not exist. */
export function seriesIn(text: string, series: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`ref_proxy_${series} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

export async function metrics({ url }: Pick<UnderTest, 'url'>): Promise<string> {
  return (await get(`${url}/metrics`)).text;
}

/** Sends requests over new connections until each worker has answered; resolves once all of their log records exist. */
export async function askBoth(
  under: UnderTest,
  path: string,
  headers?: Readonly<Record<string, string>>,
): Promise<{ readonly texts: readonly string[]; readonly records: readonly LogRecord[] }> {
  const texts: string[] = [];
  const before = new Set(under.records);
  const isNew = (record: LogRecord): boolean => record['body'] === 'request' && !before.has(record);
  for (let turn = 0; turn < 100; turn += 1) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => get(under.url + path, headers)));
    for (const { status, text } of answers) texts.push(`${status} ${text}`);
    const records = await under.logged(isNew, texts.length);
    if (new Set(records.map((record) => record['worker.id'])).size === 2) return { texts, records };
  }
  throw new Error(`one of the workers never answered ${path}`);
}

/** A backend with a few lines of one service. */
export async function backendWithLines(): Promise<DevBackend> {
  const backend = await startDevBackend();
  await push(backend.url, ['one', 'two', 'three']);
  return backend;
}

/** Stores lines, by default with timestamps a few minutes ago. */
export async function push(
  url: string,
  texts: readonly string[],
  startNs = BigInt(Date.now() - 600_000) * 1_000_000n,
): Promise<void> {
  const values = texts.map((text, index) => [String(startNs + BigInt(index)), text]);
  const { statusCode, body } = await request(`${url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { service_name: 'shop' }, values }] }),
  });
  if (statusCode >= 300) throw new Error(`push was answered ${statusCode}: ${await body.text()}`);
  await body.dump();
}

/** A fake backend with this handler. */
export async function backendThat(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server };
}
