import type { MemoryAccount } from '../../base/memory/account.js';
import type { PipelineEntry } from '../../logql/pipeline/types.js';
import type { LogRow, RowReader } from '../../victoria/names/row-reader.js';
import type { BackendRow } from '../../victoria/upstream/types.js';
import type { MetricCounts } from './counts.js';
import { entryOf } from './entry-of.js';
import { Repeats } from './repeats.js';
import { withStream, type RowStreams } from './row-streams.js';

/** Times at which rows may repeat. */
export type RepeatPlaces = 'anywhere' | 'nowhere' | ReadonlySet<number>;

export interface IntakeOptions {
  readonly reader: RowReader;
  readonly counts: Pick<MetricCounts, 'row'>;
  readonly memory: MemoryAccount;
  /** Where rows may have been pushed twice. */
  readonly repeats: RepeatPlaces;
  /** For rows that do not have their stream. */
  readonly streams?: RowStreams | undefined;
  /** Skips rows that are counted elsewhere. */
  readonly accepts?: ((row: BackendRow) => boolean) | undefined;
}

/** Makes entries of the backend's rows, each entry once. */
export class RowIntake {
  readonly #options: IntakeOptions;
  readonly #rewrite: (row: BackendRow) => BackendRow;
  readonly #repeats: Repeats;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#rewrite = options.streams === undefined ? asItIs : withStream(options.streams);
    this.#repeats = new Repeats(options.memory);
  }

  /** Begins a stretch of time that does not overlap the one before. */
  next(): void {
    this.#repeats.clear();
  }

  take(batch: readonly BackendRow[]): readonly PipelineEntry[] {
    const { reader, counts, accepts } = this.#options;
    const entries: PipelineEntry[] = [];
    for (const each of batch) {
      if (accepts?.(each) === false) continue;
      const row = reader.read(this.#rewrite(each));
      counts.row(row);
      if (!this.#mayRepeat(row) || !this.#repeats.isRepeated(row)) entries.push(entryOf(row));
    }
    return entries;
  }

  #mayRepeat({ timestampNs }: LogRow): boolean {
    const { repeats } = this.#options;
    if (repeats === 'anywhere' || repeats === 'nowhere') return repeats === 'anywhere';
    return repeats.size > 0 && repeats.has(roughly(timestampNs));
  }
}

/** A number for a time: times that differ may have the same, which only costs a look. */
export function roughly(timeNs: bigint): number {
  return Number(timeNs);
}

const asItIs = (row: BackendRow): BackendRow => row;
