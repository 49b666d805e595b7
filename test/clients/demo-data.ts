import { request } from 'undici';
import { Random } from '../../plugins/demo-data/story.js';
import { sampleEntry } from './services.js';

/** A log entry as it is ingested, with the derived values that clients must receive. */
export interface DemoEntry {
  readonly timestampNs: bigint;
  /** Labels as pushed; Loki would add `service_name` where it is missing. */
  readonly labels: Readonly<Record<string, string>>;
  readonly line: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly service: string;
  /** `detected_level` as the line has it. */
  readonly level: string;
}

/** Thirty hours of logs that end at a whole minute, without live lines. */
export interface DemoData {
  /** Milliseconds; the first moment after the data. */
  readonly endMs: number;
  readonly entries: readonly DemoEntry[];
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
const historyHours = 30;

/** Generates the data: lines of four services, denser in the last hour, and a few fixed lines. */
export function makeDemoData(nowMs: number): DemoData {
  const endMs = Math.floor(nowMs / minuteMs) * minuteMs;
  const random = new Random(11);
  const moments: number[] = [];
  for (let back = historyHours * hourMs; back > hourMs; back -= 5 * minuteMs) moments.push(endMs - back);
  for (let back = hourMs; back > minuteMs; back -= 9_000) moments.push(endMs - back);
  const sampled = moments.map((atMs, index): DemoEntry => {
    const sample = sampleEntry(random, new Date(atMs));
    const { labels, line, structuredMetadata: metadata } = sample;
    const service = labels['service_name'] ?? labels['app'] ?? labels['job'] ?? '';
    const timestampNs = nanos(atMs) + BigInt(index);
    return { timestampNs, labels, line, metadata, service, level: levelOf(line) };
  });
  return { endMs, entries: [...sampled, ...fixtures(endMs), clash(endMs), odd(endMs)].sort(byTime) };
}

/** Selects the fixed lines; no other line has these labels. */
export const fixtureSelector = '{service_name="fixture"}';

const fixtureLabels = { service_name: 'fixture', cluster: 'lab', namespace: 'tests', pod: 'fixture-0' };

function fixtures(endMs: number): readonly DemoEntry[] {
  const lines: readonly (readonly [line: string, metadata: Readonly<Record<string, string>>])[] = [
    [
      '{"level":"warn","user":{"name":"ann","id":7},"took":"12ms","size":"3KB","ok":true,"ratio":0.5,"cluster":"from the line"}',
      { trace_id: 'abc', 'http.route': '/cart' },
    ],
    ['{"level":"error", broken', { trace_id: 'def' }],
    ['level=debug msg="quotes \\" and \\\\ and <b>" took=3ms size=2KB', {}],
    ['tab\tand ünïcödé 😀 "quoted" \\ done', { trace_id: 'ghi' }],
    ['same moment, first level=info', {}],
    ['same moment, second level=info', {}],
  ];
  return lines.map(([line, metadata], index) => ({
    // The last two have the same timestamp.
    // Offset by half a minute, so that no window of whole minutes ends between them.
    timestampNs: nanos(endMs - 9.5 * minuteMs) + BigInt(Math.min(index, lines.length - 2)) * 1_000_000_007n,
    labels: fixtureLabels,
    line,
    metadata,
    service: 'fixture',
    level: levelOf(line),
  }));
}

/** Selects a line whose fields repeat a label name of its stream and a metadata name. */
export const clashSelector = '{service_name="clash"}';

function clash(endMs: number): DemoEntry {
  const line = 'level=warn cluster=line trace_id=line own=line';
  return {
    timestampNs: nanos(endMs - 20 * minuteMs) + 5n,
    labels: { service_name: 'clash', cluster: 'lab', namespace: 'tests', pod: 'clash-0' },
    line,
    metadata: { trace_id: 'metadata' },
    service: 'clash',
    level: levelOf(line),
  };
}

/** Labels whose values contain every special character of selectors, stream names and URLs. */
export const oddLabels = {
  service_name: 'odd one, {really}="yes"',
  path: 'C:\\logs\\a "b" \'c\' `d` $e.*|+?',
  team: 'ünï 😀 & <b> %2F #1',
  namespace: 'tests',
} as const;

function odd(endMs: number): DemoEntry {
  const line = 'first\nsecond \u001b[31mred\u001b[0m \u0001 \u2028 end level=info';
  return {
    timestampNs: nanos(endMs - 15 * minuteMs) + 3n,
    labels: oddLabels,
    line,
    metadata: { note: 'a "b" \\ \n c' },
    service: oddLabels.service_name,
    level: levelOf(line),
  };
}

/** The level that the line contains. */
function levelOf(line: string): string {
  const stated = /"level":"(\w+)"|level=(\w+)|^\[(\w+)\]/.exec(line);
  return (stated?.[1] ?? stated?.[2] ?? stated?.[3] ?? 'unknown').toLowerCase();
}

function byTime(a: DemoEntry, b: DemoEntry): number {
  if (a.timestampNs !== b.timestampNs) return a.timestampNs < b.timestampNs ? -1 : 1;
  return a.line < b.line ? -1 : 1;
}

export function nanos(ms: number): bigint {
  return BigInt(Math.round(ms)) * 1_000_000n;
}

/** The destination of entries: VictoriaLogs, or Loki itself. */
export interface Store {
  readonly url: string;
  readonly isReference: boolean;
}

/** Pushes entries to an account like an agent would; returns when they are visible. */
export async function pushEntries(
  { url, isReference }: Store,
  account: number,
  entries: readonly Pick<DemoEntry, 'timestampNs' | 'labels' | 'line' | 'metadata'>[],
): Promise<void> {
  const headers = { accountid: String(account), projectid: '0', 'x-scope-orgid': String(account) };
  const path = isReference ? '/loki/api/v1/push' : '/insert/loki/api/v1/push?disable_message_parsing=1';
  const streams = entries.map(({ timestampNs, labels, line, metadata }) => ({
    stream: labels,
    values: [[String(timestampNs), line, metadata]],
  }));
  const pushed = await request(new URL(path, url), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  const text = await pushed.body.text();
  if (pushed.statusCode >= 300) throw new Error(`the backend refused a push: ${pushed.statusCode} ${text}`);
  await flush(url);
}

/** Pushes rows with unchanged stream fields, as an OpenTelemetry export leaves them in VictoriaLogs. */
export async function pushRows(
  { url }: Store,
  account: number,
  streamFields: readonly string[],
  rows: readonly Readonly<Record<string, string>>[],
): Promise<void> {
  const path = `/insert/jsonline?_stream_fields=${encodeURIComponent(streamFields.join(','))}`;
  const pushed = await request(new URL(path, url), {
    method: 'POST',
    headers: { accountid: String(account), projectid: '0', 'content-type': 'application/stream+json' },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });
  const text = await pushed.body.text();
  if (pushed.statusCode >= 300) throw new Error(`the backend refused rows: ${pushed.statusCode} ${text}`);
  await flush(url);
}

/** Makes a real VictoriaLogs show the latest rows at once; the embedded backend always does and does not know the path. */
async function flush(url: string): Promise<void> {
  const flushed = await request(new URL('/internal/force_flush', url));
  await flushed.body.dump();
}
