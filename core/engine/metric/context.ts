import type { Clock } from '../../base/clock.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { Cost, StrategyRecord } from '../../base/trace.js';
import type { LineWorkers } from '../../logql/lines/line-workers.js';
import type { LeafRequest, MetricLimits, SeriesTable } from '../../logql/metric/index.js';
import type { Assumptions, Declined, Declines, MetricCounts, RowEstimates } from './cost.js';
import type { Backend } from '../backend.js';
import type { Memories } from '../memories.js';
import type { LeafPlan } from '../plan/types.js';
import type { ProfileSource } from './count/profile.js';
import type { LineSamples } from './count/line-digests.js';
import type { RepeatedRowsRule } from './repeats.js';
import type { RowThreads } from './threads/row-threads.js';

/** Dependencies of a metric request. */
export interface MetricContext extends Backend, Memories {
  readonly clock: Clock;
  readonly limits: MetricLimits;
  readonly memory: MemoryAccount;
  /** Cancels all pending work. */
  readonly signal: AbortSignal;
  /** Maximum number of rows that one range aggregation may read (`-manual-range-metric-row-limit`); 0 means unlimited. */
  readonly maxRows: number;
  readonly workers: Pick<LineWorkers, 'run'>;
  /** Threads that count large numbers of rows; undefined to count all rows on the event loop. */
  readonly rowThreads: Pick<RowThreads, 'begin'> | undefined;
  /** The assumptions that the answer may rely on; undefined if all facts must be proven first. */
  readonly assumptions: Assumptions | undefined;
  /** The option `-repeated-rows`: whether rows that were pushed several times count once or each time. */
  readonly repeatedRows: RepeatedRowsRule;
  /** The strategies that may read a leaf. Strategies with unknown costs are tried in this order. */
  readonly strategies: readonly ReadStrategy[];
  /** Called after each attempt to read a leaf. */
  readonly tried: (record: StrategyRecord) => void;
}

/** State shared by the leaves of one request. */
export interface LeafContext extends Omit<MetricContext, 'profiler' | 'refusals'> {
  readonly profiler: ProfileSource;
  readonly counts: MetricCounts;
  readonly samples: Pick<LineSamples, 'of'>;
  readonly declines: Declines;
}

export type StrategyName = 'statistics' | 'value-groups' | 'short-lines' | 'rows' | 'whole-rows';

/** Reads a leaf, or returns the reason why it cannot. */
export type Attempt = (request: LeafRequest, context: LeafContext) => Promise<SeriesTable | Declined>;

/** A way to read a leaf, and its estimated cost. */
export interface Candidate {
  readonly cost: Cost;
  readonly read: Attempt;
}

/** A strategy that reads the series of a leaf from the backend. All strategies give the same series; the cheapest one is used. */
export interface ReadStrategy {
  readonly name: StrategyName;
  /** One sentence for the documentation. */
  readonly summary: string;
  /**
   * Detail with which the strategy's error names an entry that cannot be evaluated. Loki's error names the first such entry with all its
   * labels.
   */
  readonly namesFailedEntry: 'no' | 'partly' | 'fully';
  /** True if the backend groups by time buckets (`rangeBuckets`), which the times of the answer must allow. */
  readonly usesBuckets: boolean;
  /**
   * Estimates the cost from the plan and from known facts, without calling the backend. Declines only if it certainly cannot read the leaf.
   */
  readonly estimate: (leaf: LeafPlan, known: RowEstimates) => Candidate | Declined;
}
