import type { LogsqlFilter } from '../logsql/ast.js';
import type { Expr, MetricExpr, Stage } from '../logql/ast.js';

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
}
/** A metric expression that reads no logs: literals and vector(). */
export interface ConstantPlan {
  readonly kind: 'constant';
  readonly expr: MetricExpr;
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
}
export interface IndexStatsPlan {
  readonly kind: 'index-stats';
  readonly filter: LogsqlFilter;
}
export interface FormatPlan {
  readonly kind: 'format';
  readonly expr: Expr;
}

export type Plan =
  LogsPlan | ConstantPlan | LabelNamesPlan | LabelValuesPlan | SeriesPlan | IndexStatsPlan | FormatPlan;
export type PlanKind = Plan['kind'];
