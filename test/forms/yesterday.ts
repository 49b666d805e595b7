/** Data that is recorded with one release and loaded by the next: the logs, the queries, and helpers to run both. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../core/kernel/options/index.js';
import { freePort, isOpen } from '../core/program/child.js';

/** The folder of the recordings. */
export const recordings = join(packageRoot(), 'test', 'data', 'yesterday');
export const token = 'token-of-yesterday';
/** The file names in the data folder of a process. */
export const files = {
  disk: 'cache.db',
  patterns: 'patterns.json',
  labels: 'labels.json',
  deletions: 'cache.db.deletions',
} as const;

const startMs = Date.UTC(2026, 9, 5);
const minuteMs = 60_000;
const hours = 6;

/** Every query is about logs of one day in the past, so the answers do not depend on the current time. */
export const questions: readonly string[] = [
  `labels?${range()}`,
  `label/app/values?${range()}`,
  `series?match[]=${query('{app="shop"}')}&${range()}`,
  `query_range?query=${query('{app="shop"} |= "order"')}&limit=20&${range()}`,
  `query_range?query=${query('sum by (app) (count_over_time({app=~".+"}[5m]))')}&step=300&${range()}`,
  `query?query=${query('sum(count_over_time({app="pay"}[1h]))')}&time=${(startMs + hours * 60 * minuteMs) / 1000}`,
  `patterns?query=${query('{app="shop"}')}&${range()}`,
  `detected_fields?query=${query('{app="pay"}')}&${range()}`,
];

/** The start and end of all logs, as parameters. */
export function range(): string {
  return `start=${startMs / 1000}&end=${(startMs + hours * 60 * minuteMs) / 1000}`;
}

function query(text: string): string {
  return encodeURIComponent(text);
}

/** One line per minute and application, in the format of Loki's push API. */
function push(): string {
  const streams = ['shop', 'pay'].map((app) => ({
    stream: { app, service_name: app },
    values: Array.from({ length: hours * 60 }, (_, minute) => [
      `${startMs + minute * minuteMs}000000`,
      minute % 7 === 0
        ? `level=error order ${minute} failed`
        : `level=info order ${minute} took ${minute % 50} ms`,
    ]),
  }));
  return JSON.stringify({ streams });
}

/** A running process and its log records. */
export interface Served {
  readonly url: string;
  readonly records: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Runs a command of a build of the program, by default this one, at its own address. */
export async function serve(
  command: string,
  args: readonly string[],
  at?: string,
  main?: string,
): Promise<Served> {
  const listen = at ?? `127.0.0.1:${await freePort()}`;
  const program = main ?? join(packageRoot(), 'dist/core/program/main.js');
  const child = spawn(process.execPath, [program, command, ...args, `-listen=${listen}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const exited = once(child, 'exit');
  const records: string[] = [];
  for (const output of [child.stdout, child.stderr])
    createInterface({ input: output }).on('line', (line) => records.push(line));
  const url = `http://${listen}`;
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  while (!(await isOpen(`${url}/alive`))) {
    if (child.exitCode !== null) throw new Error(`${command} ended:\n${records.join('\n')}`);
    await pause(50);
  }
  return { url, records, stop };
}

/**
 * Answers of another backend are not used, and a backend is identified by its address. No other process listens here, because other tests
 * use
 * higher ports. If the address is taken or unavailable, the recorded caches are ignored.
 */
const recordedAddress = '127.43.43.43:19743';

/** An embedded backend with the logs, at the recorded address if that is free. */
export async function serveRecordedLogs(): Promise<Served> {
  return serveLogs((await isFree(recordedAddress)) ? recordedAddress : undefined);
}

/** An embedded backend with the logs. */
export async function serveLogs(at?: string): Promise<Served> {
  const backend = await serve('backend', [], at);
  const headers = { 'content-type': 'application/json' };
  const path = '/insert/loki/api/v1/push?disable_message_parsing=1';
  const { ok, status } = await fetch(backend.url + path, { method: 'POST', headers, body: push() });
  if (!ok) throw new Error(`the push was answered with ${status}`);
  return backend;
}

function isFree(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ host, port: Number(port) }, () => server.close(() => resolve(true)));
  });
}

/** The flags with which a release was recorded. TTLs are ten years, because the answers are requested much later. */
export function flags(backend: string, folder: string): readonly string[] {
  return [
    `-backend=${backend}`,
    '-admin-listen=127.0.0.1:0',
    `-disk-cache-path=${join(folder, files.disk)}`,
    '-disk-cache-flush-interval=100ms',
    `-patterns-persist-path=${join(folder, files.patterns)}`,
    '-label-values-indexed-cache=true',
    `-label-values-index-persist-path=${join(folder, files.labels)}`,
    '-labels-cache-ttl=87600h',
    '-cache-ttl=87600h',
    '-query-range-history-cache-ttl=87600h',
    '-server.register-instrumentation=true',
    '-log-level=info',
  ];
}

/** Flags for two replicas; the other one can be any server. */
export function peerFlags(own: number, other: number): readonly string[] {
  return [
    `-peer-self=127.0.0.1:${own}`,
    '-peer-discovery=static',
    `-peer-static=127.0.0.1:${own},127.0.0.1:${other}`,
    `-peer-auth-token=${token}`,
    '-peer-patience=2s',
    // A slow response of a busy machine must not count as a failure of the peer.
    '-peer-timeout=60s',
  ];
}

/** Resolves when the proxy accepts requests. */
export async function ready(url: string): Promise<void> {
  while ((await fetch(`${url}/ready`)).status !== 200) await pause(50);
}

/** The response to each query, once the process is ready. */
export async function answers(url: string): Promise<Readonly<Record<string, unknown>>> {
  await ready(url);
  const all: Record<string, unknown> = {};
  for (const question of questions) {
    const answer = await fetch(`${url}/loki/api/v1/${question}`);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${question}: ${answer.status} ${text}`);
    all[question] = comparable(JSON.parse(text));
  }
  return all;
}

/** Removes the statistics, which depend on how a response was computed. */
function comparable(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (name, value: unknown) => (name === 'stats' ? undefined : value));
}

/** The sum of a metric. */
export async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const starts = name.endsWith('}') ? [`${name} `] : [`${name} `, `${name}{`];
  const lines = text
    .split('\n')
    .filter((line) => starts.some((start) => line.startsWith(`ref_proxy_${start}`)));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

export async function inFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-yesterday-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
