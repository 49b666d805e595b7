import { parseRowTime } from '../../core/victoria/names/row-time.js';
import type { Entry, Labels, Stream, TenantData } from './data/dataset.js';
import type { PlacedEntry } from './lines.js';
import type { Question } from './question.js';
import { natureOf } from './signature.js';
import type { Different } from './verdict.js';

/** An entry that the backend does not give back as it was pushed. */
export interface Lost {
  readonly stream: Stream;
  readonly entry: Entry;
  readonly reason: string;
}

/** What was pushed and cannot be read back: the line, a label or metadata is another, or missing. */
export function lostEntries({ streams }: TenantData, rows: readonly Labels[]): readonly Lost[] {
  const byTime = new Map<bigint, Labels[]>();
  for (const row of rows) {
    const ns = parseRowTime(row['_time'] ?? '');
    const others = byTime.get(ns) ?? [];
    byTime.set(ns, others);
    others.push(row);
  }
  return streams.flatMap((stream) =>
    stream.entries.flatMap((entry) => {
      const reason = reasonOf(stream, entry, byTime.get(entry.ns) ?? []);
      return reason === undefined ? [] : [{ stream, entry, reason }];
    }),
  );
}

/** The line read last tells the type and path of a detected field: Loki's is the first to arrive among those of a stream's oldest instant. */
export function isOrderOfArrival(
  { path }: Question,
  difference: Different,
  lines: readonly PlacedEntry[],
): boolean {
  if (path !== 'detected_fields' || !/^(?:type|jsonPath|jsonPath, type)$/.test(natureOf(difference))) return false;
  const oldest = new Map<Stream, { ns: bigint; count: number }>();
  for (const { stream, entry } of lines) {
    const known = oldest.get(stream);
    if (known === undefined || entry.ns < known.ns) oldest.set(stream, { ns: entry.ns, count: 1 });
    else if (entry.ns === known.ns) known.count += 1;
  }
  return [...oldest.values()].some(({ count }) => count > 1);
}

function reasonOf(
  { labels }: Stream,
  { line, metadata }: Entry,
  rows: readonly Labels[],
): string | undefined {
  const own = rows.filter((row) =>
    Object.entries(labels).every(([name, value]) => row[name] === value || name in metadata),
  );
  if (own.length === 0) return `no row with its labels ${JSON.stringify(labels)}`;
  const sameLine = own.filter((row) => (row['_msg'] ?? '') === line);
  if (line === '') return 'an empty line';
  if (sameLine.length === 0)
    return `line ${JSON.stringify(line.slice(0, 100))} read back as ${JSON.stringify(own[0]?.['_msg']?.slice(0, 100))}`;
  const faults = sameLine.map((row) => Object.entries(metadata).find(([name, value]) => row[name] !== value));
  const fault = faults[0];
  if (fault === undefined || faults.includes(undefined)) return undefined;
  const [name, value] = fault;
  return `metadata ${name}=${JSON.stringify(value)} read back as ${JSON.stringify(sameLine[0]?.[name])}`;
}
