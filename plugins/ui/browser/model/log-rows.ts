import { levelOf, type Level } from './levels.js';
import type { Direction } from './query-state.js';
import type { Labels, WireStream } from './wire.js';

/** Labels of one kind, by name. */
export interface LabelGroup {
  readonly title: string;
  readonly labels: readonly (readonly [name: string, value: string])[];
}

/** One line of a log answer. */
export interface LogRow {
  /** Nanoseconds since the epoch. */
  readonly ns: string;
  readonly ms: number;
  readonly level: Level;
  readonly line: string;
  /** Groups without labels are left out. */
  readonly groups: readonly LabelGroup[];
}

/** The lines of all streams in time order. Lines of the same time keep the order of the answer. */
export function logRows(streams: readonly WireStream[], direction: Direction): readonly LogRow[] {
  const rows = streams.flatMap(({ stream, values }) =>
    values.map(([ns, line, more]): LogRow => {
      const metadata = more?.structuredMetadata ?? {};
      const parsed = more?.parsed ?? {};
      return {
        ns,
        ms: Number(ns) / 1e6,
        line,
        level: levelOf(metadata['detected_level'] ?? stream['level'] ?? parsed['level']),
        groups: [
          groupOf('Stream labels', stream),
          groupOf('Structured metadata', metadata),
          groupOf('Parsed from the line', parsed),
        ].filter(({ labels }) => labels.length > 0),
      };
    }),
  );
  const sign = direction === 'forward' ? 1 : -1;
  return rows.sort((a, b) => sign * compareNs(a.ns, b.ns));
}

function groupOf(title: string, labels: Labels): LabelGroup {
  return { title, labels: Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)) };
}

/** Compares integers by their digits: a double cannot hold nanoseconds. */
function compareNs(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
