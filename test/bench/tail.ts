/**
 * Tails 2,000 lines per second in native and synthetic mode, each with a proxy in its own process, and counts lost and duplicate lines.
 * TAIL_SECONDS changes the duration (60), TAIL_RATE the rate, BACKEND_URL the backend (by default an embedded one in its own process).
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { ready } from './program.js';

const seconds = Number(process.env['TAIL_SECONDS'] ?? 60);
const linesPerSecond = Number(process.env['TAIL_RATE'] ?? 2_000);
const batchesPerSecond = 10;
const streams = 5;
const settleMs = 15_000;
const awakeMs = 5_000;

/** Prints one line per mode. */
export async function run(): Promise<void> {
  const given = process.env['BACKEND_URL'];
  const backend = given === undefined ? await start('backend', ['-listen=127.0.0.1:0']) : undefined;
  try {
    for (const mode of ['native', 'synthetic'] as const) await soak(mode, given ?? backend?.url ?? '');
  } finally {
    if (backend !== undefined) await stop(backend.child);
  }
}

async function soak(mode: string, backend: string): Promise<void> {
  const proxy = await start('serve', [
    '--pipeline=pipelines/reference-compatible.yaml',
    '--listen=127.0.0.1:0',
    '--admin-listen=127.0.0.1:0',
    `--backend=${backend}`,
    `--tail.mode=${mode}`,
  ]);
  const app = `soak-${mode}-${Date.now()}`;
  const reader = openReader(proxy.url, app);
  // Another client that never reads; it must not affect the first one.
  const stalled = openReader(proxy.url, app);
  try {
    await Promise.all([reader.opened, stalled.opened]);
    stalled.socket.pause();
    const before = await residentMiB(proxy.child);
    const memory: number[] = [];
    const sent = await push(backend, app, async () => memory.push(await residentMiB(proxy.child)));
    const doneBy = Date.now() + settleMs;
    while (reader.seen.size < sent && Date.now() < doneBy) await sleep(100);
    const after = await residentMiB(proxy.child);
    const quarters = [1, 2, 3].map((quarter) => memory[Math.floor((memory.length * quarter) / 4)] ?? 0);
    reader.latenciesMs.sort((a, b) => a - b);
    const at = (share: number): number =>
      reader.latenciesMs[Math.floor(reader.latenciesMs.length * share)] ?? 0;
    console.log(
      `${mode}: sent ${sent}, lost ${sent - reader.seen.size}, twice ${reader.twice}, dropped ${reader.dropped}, ` +
        `latency p50 ${at(0.5)} p99 ${at(0.99)} max ${at(0.9999)} ms, ` +
        `memory start ${before}, by quarters ${quarters.join(' ')}, end ${after}, max ${Math.max(...memory)} MiB`,
    );
    console.log(`  a reader that took nothing: ${await awoken(stalled, sent)}`);
  } finally {
    reader.socket.terminate();
    stalled.socket.terminate();
    await stop(proxy.child);
  }
}

/** The message for a reader that resumes reading. */
async function awoken(stalled: Reader, sent: number): Promise<string> {
  const { socket, seen } = stalled;
  const closed = once(socket, 'close').then(([code]) => `cut off (${String(code)})`);
  socket.resume();
  const end = await Promise.race([closed, sleep(awakeMs).then(() => 'still served')]);
  return `${end}; of ${sent} lines got ${seen.size}, ${stalled.twice} twice, and was told of ${stalled.dropped} dropped`;
}

interface Reader {
  readonly socket: WebSocket;
  readonly opened: Promise<unknown>;
  readonly seen: Set<number>;
  readonly latenciesMs: number[];
  twice: number;
  dropped: number;
}

interface Frame {
  readonly streams: readonly { readonly values: readonly (readonly [string, string])[] }[];
  readonly dropped_entries?: readonly unknown[];
}

function openReader(url: string, app: string): Reader {
  const query = encodeURIComponent(`{app="${app}"} |= "line"`);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/loki/api/v1/tail?query=${query}`);
  const opened = once(socket, 'open');
  const reader: Reader = { socket, opened, seen: new Set(), latenciesMs: [], twice: 0, dropped: 0 };
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString('utf8')) as Frame;
    const now = Date.now();
    reader.dropped += frame.dropped_entries?.length ?? 0;
    for (const [time, line] of frame.streams.flatMap(({ values }) => values)) {
      const id = Number(line.split(' ')[1]);
      if (reader.seen.has(id)) reader.twice += 1;
      reader.seen.add(id);
      reader.latenciesMs.push(now - Number(BigInt(time) / 1_000_000n));
    }
  });
  return reader;
}

/** Pushes equal batches, one every tenth of a second; the timestamp of each line is its creation time. */
async function push(backend: string, app: string, everySecond: () => Promise<unknown>): Promise<number> {
  const perBatch = linesPerSecond / batchesPerSecond;
  const begin = Date.now();
  let id = 0;
  const pending: Promise<void>[] = [];
  for (let batch = 0; batch < seconds * batchesPerSecond; batch += 1) {
    await sleep(Math.max(0, begin + (batch * 1000) / batchesPerSecond - Date.now()));
    const rows: string[] = [];
    for (let index = 0; index < perBatch; index += 1) {
      const time = BigInt(Date.now()) * 1_000_000n + BigInt(index);
      const text = `line ${id} of a service that says what it does, at some length, as they do level=info`;
      rows.push(JSON.stringify({ _time: String(time), _msg: text, app, part: String(id % streams) }));
      id += 1;
    }
    pending.push(insert(backend, rows.join('\n')));
    if (batch % batchesPerSecond === 0) await everySecond();
  }
  await Promise.all(pending);
  return id;
}

async function insert(backend: string, body: string): Promise<void> {
  const response = await fetch(`${backend}/insert/jsonline?_stream_fields=app,part`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/stream+json' },
    body,
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`the backend answered ${response.status} to a push`);
}

async function start(
  command: string,
  args: readonly string[],
): Promise<{ child: ChildProcess; url: string }> {
  const main = new URL('../../core/program/main.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const url = /"main":"(http[^"]+)"/.exec(line)?.[1] ?? /on (http\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    if (command === 'serve') await ready(url);
    return { child, url };
  }
  throw new Error(`${command} did not start`);
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function residentMiB(child: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
