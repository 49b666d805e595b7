import { levelOf, type Level } from './levels.js';
import type { Direction } from './query-state.js';
import type { Labels, WireStream } from './wire.js';

/** Labels of one kind, by name. */
export interface LabelGroup {
  readonly title: string;
  /** Source of the labels: stream labels can be used in selectors, others only in filters on rows. */
  readonly of: 'stream' | 'row';
  readonly labels: readonly (readonly [name: string, value: string])[];
}

/** One line of a log answer. */
export interface LogRow {
  /** Identifies the row: an entry's time, stream and line. */
  readonly key: string;
  /** Nanoseconds since the epoch. */
  readonly ns: string;
  readonly ms: number;
  readonly level: Level;
  readonly line: string;
  /** The error of this line, such as `JSONParserErr`. */
  readonly error: string | undefined;
  readonly stream: Labels;
  /** Label groups; empty ones are omitted. */
  readonly groups: readonly LabelGroup[];
}

/** The lines of all streams in time order. Lines with equal timestamps keep the order of the answer. */
export function logRows(streams: readonly WireStream[], direction: Direction): readonly LogRow[] {
  const rows = streams.flatMap(({ stream, values }) => {
    const id = JSON.stringify(Object.entries(stream).sort(([a], [b]) => (a < b ? -1 : 1)));
    return values.map(([ns, line, more]): LogRow => {
      const metadata = more?.structuredMetadata ?? {};
      const parsed = more?.parsed ?? {};
      return {
        key: `${ns} ${id} ${line}`,
        ns,
        ms: Number(ns) / 1e6,
        line,
        stream,
        error: parsed['__error__'] ?? metadata['__error__'] ?? stream['__error__'],
        level: levelOf(
          metadata['detected_level'] ?? stream['detected_level'] ?? stream['level'] ?? parsed['level'],
        ),
        groups: [
          groupOf('Stream labels', 'stream', stream),
          groupOf('Structured metadata', 'row', metadata),
          groupOf('Parsed from the line', 'row', parsed),
        ].filter(({ labels }) => labels.length > 0),
      };
    });
  });
  return sorted(rows, direction);
}

/** Rows in time order; rows with equal timestamps keep their order. */
export function sorted(rows: readonly LogRow[], direction: Direction): readonly LogRow[] {
  const sign = direction === 'forward' ? 1 : -1;
  return rows.toSorted((a, b) => sign * compareNs(a.ns, b.ns));
}

function groupOf(title: string, of: LabelGroup['of'], labels: Labels): LabelGroup {
  return { title, of, labels: Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)) };
}

/** Compares integers by their digits, since a double cannot represent nanoseconds. */
function compareNs(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
