import type { LogsqlFilter } from '../logsql/ast.js';
import type { Expr, Stage } from '../logql/ast.js';
import type { MetricPlan } from './metric.js';

/**
 * What a request means in the backend's terms, made by translate and executed by response-shape over the `upstream` slot.
 * A plan holds no time range: that is the request's, so that window-split can narrow it without planning again.
 */
export interface LogsPlan {
  readonly kind: 'logs';
  /** Rows that can matter: exact, or a superset when `residual` is not empty. */
  readonly filter: LogsqlFilter;
  /** Stages still to be evaluated here, in order. */
  readonly residual: readonly Stage[];
  /** Line filters that the backend has done, except on rows without a stored line: on rebuilt lines they run here, first. */
  readonly recheck: readonly Stage[];
  /** True where the backend may be asked for label filters among the stages, once stored names are known (refinePlan). */
  readonly asksLabels?: true;
}
export interface LabelNamesPlan {
  readonly kind: 'label-names';
  readonly filter: LogsqlFilter;
}
export interface LabelValuesPlan {
  readonly kind: 'label-values';
  readonly name: string;
  readonly filter: LogsqlFilter;
  /** Stored leaves of map attributes that make the label, once they are known (refinePlan). */
  readonly nestedFields?: readonly string[];
}
export interface SeriesPlan {
  readonly kind: 'series';
  readonly filter: LogsqlFilter;
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

/** Volumes of the selected streams, summed by these labels; `all` takes every label there is. */
export interface VolumePlan {
  readonly kind: 'volume';
  readonly filter: LogsqlFilter;
  readonly targets: ReadonlySet<string> | 'all';
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
  | LabelNamesPlan
  | TenantPlan
  | LabelValuesPlan
  | SeriesPlan
  | IndexStatsPlan
  | FormatPlan
  | DeletePlan
  | VolumePlan
  | ShardsPlan
  | DetectedLabelsPlan
  | DetectedFieldsPlan
  | PatternsPlan;
export type PlanKind = Plan['kind'];
