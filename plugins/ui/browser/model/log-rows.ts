import { levelOf, type Level } from './levels.js';
import type { Direction } from './query-state.js';
import type { Labels, WireEntry, WireStream } from './wire.js';

/** Labels of one kind, by name. */
export interface LabelGroup {
  readonly title: string;
  /** Source of the labels: stream labels can be used in selectors, others only in filters on rows. */
  readonly of: 'stream' | 'row';
  readonly labels: readonly (readonly [name: string, value: string])[];
}

/** One line of a log answer. */
export interface LogRow {
  /** Distinguishes rows while the page is open. */
  readonly id: number;
  /** Identifies the entry, in every answer that has it: its time, stream and line. */
  readonly key: string;
  /** Nanoseconds since the epoch. */
  readonly ns: string;
  readonly ms: number;
  readonly level: Level;
  readonly line: string;
  /** The error of this line, such as `JSONParserErr`. */
  readonly error: string | undefined;
  readonly stream: Labels;
  readonly metadata: Labels;
  readonly parsed: Labels;
}

const noLabels: Labels = {};
let lastId = 0;

/** Makes the rows of one stream. */
export function rowMaker(stream: Labels): (entry: WireEntry) => LogRow {
  const id = JSON.stringify(Object.entries(stream).sort(([a], [b]) => (a < b ? -1 : 1)));
  return ([ns, line, more]) => {
    const metadata = more?.structuredMetadata ?? noLabels;
    const parsed = more?.parsed ?? noLabels;
    lastId += 1;
    return {
      id: lastId,
      key: `${ns} ${id} ${line}`,
      ns,
      ms: Number(ns) / 1e6,
      line,
      stream,
      metadata,
      parsed,
      error: parsed['__error__'] ?? metadata['__error__'] ?? stream['__error__'],
      level: levelOf(
        metadata['detected_level'] ?? stream['detected_level'] ?? stream['level'] ?? parsed['level'],
      ),
    };
  };
}

/** The lines of all streams in time order. Lines with equal timestamps keep the order of the answer. */
export function logRows(streams: readonly WireStream[], direction: Direction): readonly LogRow[] {
  const rows = streams.flatMap(({ stream, values }) => values.map(rowMaker(stream)));
  return numbered(sorted(rows, direction));
}

/** Rows in time order; rows with equal timestamps keep their order. */
export function sorted(rows: readonly LogRow[], direction: Direction): readonly LogRow[] {
  const sign = direction === 'forward' ? 1 : -1;
  return rows.toSorted((a, b) => sign * compareNs(a.ns, b.ns));
}

/** Sorted rows with a number at the key of an entry that the answer has several times. */
export function numbered(rows: readonly LogRow[]): readonly LogRow[] {
  let ns = '';
  const seen = new Map<string, number>();
  return rows.map((row, at) => {
    if (row.ns !== ns) seen.clear();
    ns = row.ns;
    if (seen.size === 0 && rows[at + 1]?.ns !== ns) return row;
    const count = (seen.get(row.key) ?? 0) + 1;
    seen.set(row.key, count);
    return count === 1 ? row : { ...row, key: `${row.key} ${count}` };
  });
}

/** The labels of a row in groups; empty ones are omitted. */
export function groupsOf({ stream, metadata, parsed }: LogRow): readonly LabelGroup[] {
  return [
    groupOf('Stream labels', 'stream', stream),
    groupOf('Structured metadata', 'row', metadata),
    groupOf('Parsed from the line', 'row', parsed),
  ].filter(({ labels }) => labels.length > 0);
}

/** The value of a label of a row, whatever its source; undefined if it has none. */
export function labelOf({ stream, metadata, parsed }: LogRow, name: string): string | undefined {
  for (const labels of [stream, metadata, parsed]) if (Object.hasOwn(labels, name)) return labels[name];
  return undefined;
}

function groupOf(title: string, of: LabelGroup['of'], labels: Labels): LabelGroup {
  return { title, of, labels: Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)) };
}

/** Compares integers by their digits, since a double cannot represent nanoseconds. */
export function compareNs(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
