import { hourMs, nanos, type DemoData, type DemoEntry } from './demo-data.js';
import type { GrafanaSeries, LogRow } from './grafana-reader.js';

/** A filter for expected entries. */
export type Wanted = (entry: DemoEntry) => boolean;

export function ofService(name: string): Wanted {
  return ({ service }) => service === name;
}

/** Entries of [start, end), oldest first. */
export function between(
  data: DemoData,
  startMs: number,
  endMs: number,
  wanted: Wanted = () => true,
): DemoEntry[] {
  const [startNs, endNs] = [nanos(startMs), nanos(endMs)];
  return data.entries.filter(
    (entry) => entry.timestampNs >= startNs && entry.timestampNs < endNs && wanted(entry),
  );
}

/** Entries of (end - window, end], as range functions count them. */
export function inWindow(data: DemoData, endMs: number, windowMs: number, wanted: Wanted): DemoEntry[] {
  const [startNs, endNs] = [nanos(endMs - windowMs), nanos(endMs)];
  return data.entries.filter(
    (entry) => entry.timestampNs > startNs && entry.timestampNs <= endNs && wanted(entry),
  );
}

/** The last hour of the data. */
export function lastHour({ endMs }: DemoData): { readonly startMs: number; readonly endMs: number } {
  return { startMs: endMs - hourMs, endMs };
}

/** The index labels that a client must receive for an entry. */
export function indexLabels({ labels, service }: DemoEntry): ReadonlyMap<string, string> {
  return new Map(Object.entries({ ...labels, service_name: service }));
}

/** The identity of a row or entry as text; equal for rows that look like the same line to a user. */
export function lineKey({ timestampNs, line }: Pick<LogRow, 'timestampNs' | 'line'>): string {
  return `${timestampNs} ${line}`;
}

/** Rows of all streams in list order; rows with equal timestamps are sorted by line. */
export function inOrder(rows: readonly LogRow[], direction: 'backward' | 'forward'): readonly string[] {
  const sign = direction === 'forward' ? 1n : -1n;
  return [...rows]
    .sort((a, b) => Number((a.timestampNs - b.timestampNs) * sign) || (a.line < b.line ? -1 : 1))
    .map(lineKey);
}

/** Entries in the same order. */
export function wantedOrder(
  entries: readonly DemoEntry[],
  direction: 'backward' | 'forward',
): readonly string[] {
  const sign = direction === 'forward' ? 1n : -1n;
  return [...entries]
    .sort((a, b) => Number((a.timestampNs - b.timestampNs) * sign) || (a.line < b.line ? -1 : 1))
    .map(lineKey);
}

/** Number of entries by the name that `nameOf` returns. */
export function countBy(
  entries: readonly DemoEntry[],
  nameOf: (entry: DemoEntry) => string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(nameOf(entry), (counts.get(nameOf(entry)) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The expected points of count_over_time: entries in the window that ends at each step, left-open; no point for an empty window. */
export function countPoints(
  entries: readonly DemoEntry[],
  { startMs, endMs, stepMs, windowMs }: Record<'startMs' | 'endMs' | 'stepMs' | 'windowMs', number>,
): GrafanaSeries['points'] {
  const points: (readonly [number, number])[] = [];
  const first = Math.floor(startMs / stepMs) * stepMs;
  const last = Math.ceil(endMs / stepMs) * stepMs;
  for (let atMs = first; atMs <= last; atMs += stepMs) {
    const [fromNs, toNs] = [nanos(atMs - windowMs), nanos(atMs)];
    const count = entries.filter(({ timestampNs }) => timestampNs > fromNs && timestampNs <= toNs).length;
    if (count > 0) points.push([atMs / 1000, count]);
  }
  return points;
}
