import { parseQuery } from '../../core/logql/index.js';
import { gridColumns, defaultMetricLimits, EntryCounter, planLeaves } from '../../core/logql/metric/index.js';
import { leavesOf } from '../../core/logql/metric/work.js';
import { MemoryAccount } from '../../core/base/memory/account.js';
import { EntryCollector, LineMaker } from '../../core/engine/logs/logs.js';
import { MetricCounts } from '../../core/engine/metric/cost.js';
import { RowIntake } from '../../core/engine/metric/row-intake.js';
import { Naming } from '../../core/victoria/names/naming.js';
import { namesOptions } from '../../core/testing/options.js';
import { RowReader } from '../../core/victoria/names/row-reader.js';
import { rowsOf } from '../../core/victoria/upstream/answer-rows.js';
import type { BackendAnswer } from '../../core/victoria/upstream/exchange.js';
import { encodeAnswer } from '../../core/wire/answer/encode.js';
import { note } from './report.js';

const rounds = 7;
const rowsPerKind = 60_000;
const rowsPerStream = 500;
const chunkBytes = 65_536;
const startMs = Date.UTC(2026, 10, 1);
const columns = gridColumns({ kind: 'range', startMs, endMs: startMs + 3_600_000, stepMs: 60_000 });
const { signal } = new AbortController();
const workers = {
  run: (): never => {
    throw new Error('a line that costs much');
  },
};

/** A kind of row, as VictoriaLogs sends it. */
interface Kind {
  readonly name: string;
  readonly row: (index: number) => object;
}

const plainLine = (index: number): string => `[INFO] batch ${index % 9973} done in ${index % 60}s`;
const jsonLine = (index: number): string =>
  JSON.stringify({
    ts: '2026-11-01T05:59:59.905Z',
    level: index % 7 === 0 ? 'warn' : 'info',
    msg: 'request served',
    http: { method: 'GET', path: `/api/v1/items/${index % 997}`, status: 200 + (index % 5) },
    user: { id: index % 6689, plan: 'paid', agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0)' },
    trace: { id: `4bf92f3577b34da6a3ce929d0e0e${index % 10_000}`, parent: '00f067aa0ba902b7' },
  });
const otherLine = (index: number): string =>
  `заказ ${index % 9973} принят, 注文を受け付けました, größer als üblich`;

const kinds: readonly Kind[] = [
  { name: 'small rows', row: (index) => ({ ...ownColumns(index, plainLine(index)), level: 'info' }) },
  { name: 'JSON lines', row: (index) => ({ ...ownColumns(index, jsonLine(index)), level: 'info' }) },
  { name: 'lines beyond ASCII', row: (index) => ({ ...ownColumns(index, otherLine(index)), level: 'info' }) },
];

function ownColumns(index: number, line: string): object {
  const stream = Math.floor(index / rowsPerStream);
  const seconds = String(index % 60).padStart(2, '0');
  return {
    _time: `2026-11-01T00:${String(stream % 60).padStart(2, '0')}:${seconds}.4${index}Z`,
    _stream: `{app="orders",cluster="eu",pod="orders-${stream}"}`,
    _msg: line,
  };
}

/** A way to process rows. */
interface Path {
  readonly name: string;
  run(chunks: readonly Buffer[], lines: readonly string[]): Promise<void>;
}

const paths: readonly Path[] = [
  {
    name: 'JSON.parse alone',
    run: (_chunks, lines) => {
      for (const line of lines) JSON.parse(line);
      return Promise.resolve();
    },
  },
  {
    name: 'read',
    async run(chunks) {
      let rows = 0;
      for await (const batch of rowsOf(answerOf(chunks), { pipes: [] }, { bytes: 0 })) rows += batch.length;
      if (rows !== rowsPerKind) throw new Error(`${rows} rows`);
    },
  },
  {
    name: 'count by a stored column',
    run: (chunks) => count('sum by (level) (count_over_time({app="orders"}[5m]))', chunks),
  },
  {
    name: 'count by the level',
    run: (chunks) => count('sum by (detected_level) (count_over_time({app="orders"}[5m]))', chunks),
  },
  { name: 'stream answer', run: answerStreams },
];

function answerOf(chunks: readonly Buffer[]): BackendAnswer {
  return {
    status: 200,
    maxRowBytes: 1e6,
    unexpected: (problem) => {
      throw new Error(problem);
    },
    async *chunks() {
      for (const chunk of chunks) yield await Promise.resolve(chunk);
    },
    text: () => Promise.reject(new Error('not read as a whole')),
  };
}

async function count(text: string, chunks: readonly Buffer[]): Promise<void> {
  const expr = parseQuery(text);
  if (expr.kind === 'log') throw new Error('no metric query');
  const [leaf] = leavesOf(planLeaves(expr).tree);
  if (leaf === undefined) throw new Error('no leaf');
  const intake = new RowIntake({
    reader: new RowReader(new Naming(namesOptions())),
    counts: new MetricCounts(),
    memory: new MemoryAccount(Infinity),
    repeats: 'nowhere',
  });
  const counter = new EntryCounter({ leaf, columns, limits: defaultMetricLimits, signal }, workers);
  for await (const batch of rowsOf(answerOf(chunks), { pipes: [] }, { bytes: 0 }))
    await counter.add(intake.take(batch));
  await counter.pack();
}

async function answerStreams(chunks: readonly Buffer[]): Promise<void> {
  const reader = new RowReader(new Naming(namesOptions()));
  const collector = new EntryCollector({
    limit: rowsPerKind,
    direction: 'forward',
    intervalNs: 0n,
    lines: new LineMaker({ recheck: [], residual: [] }, false, { workers, signal }),
    memory: new MemoryAccount(Infinity),
  });
  for await (const batch of rowsOf(answerOf(chunks), { pipes: [] }, { bytes: 0 }))
    await collector.addAll(batch.map((row) => reader.read(row)));
  const stats = collector.stats(0);
  encodeAnswer(
    { kind: 'streams', streams: collector.streams(), stats, warnings: [] },
    { categorizeLabels: false },
  );
}

/**
 * Prints how many rows per second of CPU time each path reads and converts, and its time compared to `JSON.parse` of the same lines. The
 * paths alternate, so that other load on the machine affects all of them equally.
 */
export async function run(): Promise<void> {
  for (const { name, row } of kinds) {
    const lines = Array.from({ length: rowsPerKind }, (_none, index) => JSON.stringify(row(index)));
    const chunks = chunksOf(lines);
    const best = new Map<Path, number>();
    for (let round = 0; round < rounds; round += 1)
      for (const path of paths) {
        const before = process.cpuUsage();
        await path.run(chunks, lines);
        best.set(path, Math.min(best.get(path) ?? Infinity, process.cpuUsage(before).user));
      }
    const [floor] = paths;
    for (const [path, microseconds] of best) {
      const ratio = microseconds / ((floor && best.get(floor)) ?? NaN);
      const perSecond = Math.round((rowsPerKind / microseconds) * 1_000_000).toLocaleString('en');
      note('rows', `${name}, ${path.name}`, ratio);
      console.log(
        `${name.padEnd(20)} ${path.name.padEnd(26)} ${perSecond.padStart(10)} rows/s, ${ratio.toFixed(2)}`,
      );
    }
  }
}

function chunksOf(lines: readonly string[]): readonly Buffer[] {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes));
  return chunks;
}
