import type { MemoryUse } from '../../../base/memory/account.js';
import type { Fault } from '../../../base/errors/fault.js';
import type { LineWork, SentEntry } from '../../../logql/lines/work.js';
import type { Columns, Leaf, MetricLimits, PackedEngine } from '../../../logql/metric/index.js';
import type { LogsqlPipe } from '../../../victoria/logsql/ast.js';
import type { NamesOptions } from '../../../base/options.gen.js';
import type { BreakerPermit } from '../../../base/admission/circuit-breaker.js';
import type { PlainCall } from '../../../victoria/upstream/client.js';
import type { BackendOptions } from '../../../victoria/upstream/exchange.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import type { RowsRead } from '../cost.js';
import type { RepeatPlaces, RowStreams } from '../row-intake.js';

/** The job of a thread: counts the samples of a leaf in rows of the backend. Plain data. */
export interface CountingWork {
  readonly leaf: Leaf;
  readonly columns: Columns;
  readonly limits: Omit<MetricLimits, 'memory'>;
  /** The memory limit of the query in bytes, and the memory it already holds. */
  readonly memory: { readonly limit: number; readonly held: ReadonlyMap<MemoryUse, number> };
  readonly naming: NamesOptions;
  /** The pipes whose output the rows are. */
  readonly pipes: readonly LogsqlPipe[];
  readonly repeats: RepeatPlaces;
  readonly streams: RowStreams | undefined;
}

export type ToThread = { readonly job: number } & (
  | { readonly kind: 'begin'; readonly work: CountingWork }
  /**
   * A backend call to make, for rows of a time segment that does not overlap the previous ones. Answered with `head`, `read` and
   * `answered`.
   */
  | { readonly kind: 'call'; readonly call: PlainCall; readonly backend: BackendOptions }
  /** Rows that are already here, answered with `answered`; `isNext` if such a time segment starts. */
  | { readonly kind: 'rows'; readonly rows: readonly BackendRow[]; readonly isNext: boolean }
  /** The end of the job, answered with `counted`. */
  | { readonly kind: 'finish' }
  | { readonly kind: 'drop' }
  /** The result of an expensive line, which may be undefined. */
  | { readonly kind: 'line'; readonly line: number; readonly result?: unknown; readonly fault?: Fault }
);

/** Progress since the last message of a job. */
export interface Progress {
  readonly read: RowsRead;
  /** Bytes of answers read. */
  readonly bytes: number;
  readonly memory: readonly (readonly [kind: MemoryUse, bytes: number])[];
}

export type FromThread = { readonly job: number } &
  /** The outcome of the backend call: the head of its answer, or a failure. */
  (
    | { readonly kind: 'head'; readonly verdict: keyof BreakerPermit }
    | { readonly kind: 'read' | 'answered'; readonly progress: Progress }
    | { readonly kind: 'counted'; readonly progress: Progress; readonly packed: PackedEngine }
    | { readonly kind: 'fault'; readonly fault: Fault }
    /** An expensive line, to be evaluated by a line thread. The first message also carries the work. */
    | {
        readonly kind: 'line';
        readonly line: number;
        readonly work: LineWork | undefined;
        readonly entry: SentEntry;
      }
  );
