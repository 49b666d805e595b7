import type { Caller, Tenant } from '../base/caller.js';
import type { Logger } from '../base/logger.js';
import type { Meters } from '../base/meters.js';
import type { ResponseShapeOptions } from '../base/options.gen.js';
import type { Trace } from '../base/trace.js';
import type { LineWorkers } from '../logql/lines/line-workers.js';
import type { Limits } from '../wire/limits/limits.js';
import type { Backend } from './backend.js';
import type { LabelFields } from './plan/columns.js';
import type { DeriveFields } from './logs/derived-fields.js';
import type { Memories } from './memories.js';
import type { MetricContext } from './metric/context.js';
import type { engineMetrics } from './metrics.js';

/** Dependencies of an executor: the backend, the facts of one exchange, and the engine's shared state. */
export interface EngineContext
  extends
    Backend,
    Pick<
      MetricContext,
      'assumptions' | 'clock' | 'memory' | 'repeatedRows' | 'rowThreads' | 'signal' | 'strategies'
    > {
  /** The stored stream fields of the labels that the plan names. */
  readonly labelFields: LabelFields;
  readonly tenant: Tenant;
  readonly caller: Caller;
  readonly trace: Trace;
  /** False if the third element of tuples must stay empty. */
  readonly showsGroups: boolean;
  /** Adds derived fields to entries; undefined when none are configured. */
  readonly derive: DeriveFields | undefined;
  readonly options: ScanOptions;
  readonly limits: Limits;
  readonly log: Logger;
  readonly meters: Meters<typeof engineMetrics>;
  readonly workers: LineWorkers;
  readonly memories: Memories;
}

/** Limits of scans for fields. */
export type ScanOptions = Pick<ResponseShapeOptions, 'detectedFieldsMaxScanLines' | 'drilldownScanTimeout'>;
