import type { QueryAdvice } from '../../engine/advice/rules.js';
import type { ExplainedStrategy } from '../../engine/plan/explain/strategies.js';
import type { CostClass } from '../../engine/plan/explain/explain.js';
import type { Expr } from '../../logql/ast.js';
import type { FilePosition } from '../queries/found-query.js';

/** The rows that a part of a query selects, as the backend counts them. */
export interface SelectedRows {
  readonly rows: number;
  /** Rows times the average length of some of their lines. */
  readonly bytes: number;
  /** True if one of these lines was stored; rows without a line have their text in fields. */
  readonly hasLines: boolean;
}

/** A log query, or a range aggregation of a metric query, as it will be read. */
export interface AuditedRead {
  readonly logql: string;
  /** The strategy of a range aggregation, unless stored data excludes it. */
  readonly candidate: ExplainedStrategy | undefined;
  /** The other strategies with their costs, and those that are excluded with reasons. */
  readonly others: readonly ExplainedStrategy[];
  readonly selected?: SelectedRows;
}

/** A query of a file over one range, with what will happen to it. */
export interface AuditedQuery {
  readonly file: string;
  readonly group: string;
  readonly name: string;
  readonly at: FilePosition | undefined;
  /** LogQL with all variables filled in. */
  readonly text: string;
  readonly verdict: Verdicts;
}

export type Verdicts = UnparsedQuery | RefusedByLimit | AnsweredQuery;

/** Loki refuses the text of the query, with this error. */
interface UnparsedQuery {
  readonly kind: 'unparsed';
  readonly error: string;
}

/** The query is valid, but is refused with this error. */
interface RefusedByLimit {
  readonly kind: 'refused';
  readonly error: string;
}

export interface AnsweredQuery {
  readonly kind: 'answered';
  readonly expr: Expr;
  readonly cost: CostClass;
  readonly costText: string;
  readonly reads: readonly AuditedRead[];
  readonly advice: readonly QueryAdvice[];
  /** The reason why the backend's counts are missing, if they were asked for. */
  readonly uncounted?: string;
}
