import type { FieldRef, LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { ListingQuestion } from '../../victoria/upstream/types.js';
import type { Expr, Stage } from '../../logql/ast.js';
import type { Leaf, PlannedMetric } from '../../logql/metric/index.js';
import type { LeafPush } from './leaf-push.js';
import type { Decision } from './matchers.js';
import type { AppliedRule } from './rules/index.js';

export type { LeafPush } from './leaf-push.js';

/** The plan of a log query. The engine makes and executes plans, once the stored names are known. */
export interface LogsPlan {
  readonly kind: 'logs';
  /** Rows that can matter: exact, or a superset when `residual` is not empty. */
  readonly filter: LogsqlFilter;
  /** Stages still to be evaluated here, in order. */
  readonly residual: readonly Stage[];
  /** Line filters that the backend has done, except on rows without a stored line: on rebuilt lines they run here, first. */
  readonly recheck: readonly Stage[];
}

/** A leaf to which nothing of a line matters but labels that `| json` takes from it, so that rows can come with short lines. */
export interface ShortLinesPlan {
  /** All labels that are seen. */
  readonly names: ReadonlySet<string>;
  /** Names that `| json` may take from lines. */
  readonly fromJson: readonly string[];
  /** Stages that run on such rows. */
  readonly stages: readonly Stage[];
}

/** A leaf whose samples are counted by the fields of rows without a stored line. */
export interface FieldsPlan {
  readonly measure: 'count' | 'presence';
  /** All labels that are seen. */
  readonly names: ReadonlySet<string>;
  readonly stages: readonly Stage[];
  /** True when `| json` makes labels of the fields. */
  readonly readsJson: boolean;
}

/** A plan to read one range aggregation of a metric query from the backend. */
export interface LeafPlan extends Leaf {
  /** Its place among the leaves of its query, in evaluation order. */
  readonly index: number;
  /** The rows it reads; the stages run on them once more, whatever the backend has done. */
  readonly logs: LogsPlan;
  /** The rows of its streams, without any filter on lines: what counts cheaply and includes all of `logs`. */
  readonly selection: LogsqlFilter;
  /** The columns it sees; undefined when it sees all. Rows without a stored line need all in any case. */
  readonly columns: readonly FieldRef[] | undefined;
  /** The count that the backend makes instead of sending rows; undefined when it cannot. */
  readonly push: LeafPush | undefined;
  /** A plan to shorten its rows where they are read; undefined when they cannot be shortened. */
  readonly shortLines: ShortLinesPlan | undefined;
  /** A plan to count rows without a stored line by their fields; undefined when they cannot be counted. */
  readonly fields: FieldsPlan | undefined;
  /** Decisions about the leaf as a whole, and about its parts; for explain. */
  readonly rule: AppliedRule;
  readonly decisions: readonly Decision[];
}

/** A metric expression, and how its parts that read logs are read; with no such parts it is the same at every instant. */
export interface MetricPlan extends PlannedMetric<LeafPlan> {
  readonly kind: 'metric';
}

/** Metric queries over the same range that read the same rows, answered from one reading (core/engine/metric/gathered.ts). */
export interface GatheredPlan {
  readonly kind: 'gathered';
  readonly parts: readonly GatheredPart[];
}
export interface GatheredPart {
  readonly plan: MetricPlan;
  /** Aborted when this part has no waiters left. */
  readonly signal: AbortSignal;
}

export interface LabelNamesPlan {
  readonly kind: 'label-names';
  readonly filter: LogsqlFilter;
}
export interface LabelValuesPlan {
  readonly kind: 'label-values';
  readonly name: string;
  readonly filter: LogsqlFilter;
}
export interface SeriesPlan {
  readonly kind: 'series';
  readonly filter: LogsqlFilter;
  /** Set for a part of a range: only streams that have entries in it. */
  readonly withoutSilent?: boolean;
}
export interface IndexStatsPlan {
  readonly kind: 'index-stats';
  readonly filter: LogsqlFilter;
}
export interface FormatPlan {
  readonly kind: 'format';
  readonly expr: Expr;
}

/** The tenant of the request, of whom the backend knows nothing. */
export interface TenantPlan {
  readonly kind: 'tenant';
}

/** Exactly the rows that a query shows. */
export interface DeletePlan {
  readonly kind: 'delete';
  readonly filter: LogsqlFilter;
  /** Rows of which the backend cannot tell whether the query shows them: nothing is deleted while there are any. */
  readonly uncertain: LogsqlFilter | undefined;
}

/** The deletions that the backend has not finished. */
export interface DeletionsPlan {
  readonly kind: 'deletions';
}

/** Volumes of the selected streams, summed by these labels; `all` takes every label there is. */
export interface VolumePlan {
  readonly kind: 'volume';
  readonly filter: LogsqlFilter;
  readonly targets: ReadonlySet<string> | 'all';
  /** Streams without one of these labels are not counted. */
  readonly required: readonly string[];
}
/** The number of rows of streams, by time: a cache of partial answers asks for it to check that they are still complete. */
export interface LineCountsPlan {
  readonly kind: 'line-counts';
  readonly filter: LogsqlFilter;
  /** True when only their number in the whole range is asked for, which listings tell without a look at times. */
  readonly isTotal?: boolean;
}
/** Names, values or streams as the backend has them: asked by who keeps listings of parts of ranges (plugins/peer-cache/inventory). */
export interface StoredListPlan {
  readonly kind: 'stored-list';
  readonly listing: ListingQuestion;
}
export interface ShardsPlan {
  readonly kind: 'shards';
  readonly filter: LogsqlFilter;
}
export interface DetectedLabelsPlan {
  readonly kind: 'detected-labels';
  readonly filter: LogsqlFilter;
}
/** Fields are looked for in the entries of a log query. */
export interface DetectedFieldsPlan {
  readonly kind: 'detected-fields';
  readonly logs: LogsPlan;
}
export interface PatternsPlan {
  readonly kind: 'patterns';
  readonly filter: LogsqlFilter;
}

export type Plan =
  | LogsPlan
  | MetricPlan
  | GatheredPlan
  | LabelNamesPlan
  | TenantPlan
  | LabelValuesPlan
  | SeriesPlan
  | IndexStatsPlan
  | FormatPlan
  | DeletePlan
  | DeletionsPlan
  | VolumePlan
  | ShardsPlan
  | LineCountsPlan
  | StoredListPlan
  | DetectedLabelsPlan
  | DetectedFieldsPlan
  | PatternsPlan;
export type PlanKind = Plan['kind'];
