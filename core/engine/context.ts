import type { Caller, Tenant } from '../base/caller.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { MemoryAccount } from '../base/memory/account.js';
import type { Meters } from '../base/meters.js';
import type { ResponseShapeOptions } from '../base/options.gen.js';
import type { Trace } from '../base/trace.js';
import type { LineWorkers } from '../logql/lines/line-workers.js';
import type { Limits } from '../wire/limits/limits.js';
import type { Assumptions } from './metric/cost.js';
import type { Backend } from './backend.js';
import type { LabelFields } from './plan/columns.js';
import type { DeriveFields } from './logs/derived-fields.js';
import type { Memories } from './memories.js';
import type { ReadStrategy } from './metric/context.js';
import type { RepeatedRowsRule } from './metric/repeats.js';
import type { RowThreads } from './metric/threads/row-threads.js';
import type { engineMetrics } from './metrics.js';

/** Dependencies of an executor: the backend, the facts of one exchange, and the engine's shared state. */
export interface EngineContext extends Backend {
  /** The stored stream fields of the labels that the plan names. */
  readonly labelFields: LabelFields;
  readonly tenant: Tenant;
  readonly caller: Caller;
  readonly trace: Trace;
  /** Cancels all pending work. */
  readonly signal: AbortSignal;
  readonly memory: MemoryAccount;
  /** False if the third element of tuples must stay empty. */
  readonly showsGroups: boolean;
  /** Adds derived fields to entries; undefined when none are configured. */
  readonly derive: DeriveFields | undefined;
  readonly options: ScanOptions;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Logger;
  readonly meters: Meters<typeof engineMetrics>;
  readonly workers: LineWorkers;
  readonly rowThreads: RowThreads;
  /** The assumptions that the answer may rely on; undefined if all facts must be proven first. */
  readonly assumptions: Assumptions | undefined;
  /** The option `-repeated-rows`: whether rows that were pushed several times count once or each time. */
  readonly repeatedRows: RepeatedRowsRule;
  /** The strategies that may read a leaf of a metric query, in the order in which they are tried. */
  readonly strategies: readonly ReadStrategy[];
  readonly memories: Memories;
}

/** Limits of scans for fields. */
export type ScanOptions = Pick<ResponseShapeOptions, 'detectedFieldsMaxScanLines' | 'drilldownScanTimeout'>;
