import type { Grouping, MetricExpr } from '../../ast.js';
import type { StateKind } from '../../metric/states.js';
import type { Join } from '../join.js';

/** Everything about one vector aggregation. */
export interface VectorFunction {
  /** Tells whether a number of series precedes the expression. */
  readonly parameter: 'required' | 'refused';
  readonly evaluation: Evaluation;
  /** The way to merge its values of parts of the logs, if possible. */
  readonly join: Join | undefined;
  /**
   * Where Loki evaluates it when it splits the range of an instant query: for each part, or over all of them. Undefined if Loki splits it
   * only on the left of a number, and then for each part.
   */
  readonly timeParts: 'each' | 'all' | undefined;
  /** True if Loki splits it into shards together with the expression in it; undefined: never. */
  readonly shardsOver:
    ((expr: MetricExpr, reducesLabels: (expr: MetricExpr) => boolean) => boolean) | undefined;
  /** `none` if its values have another unit than those it is made of. */
  readonly unit?: 'none';
  /** Loki's error text for a grouping that it refuses. */
  readonly groupingFault?: (grouping: Grouping) => string | undefined;
  /** True if its shards are sketches, which Loki only has for instant queries, and only if they are enabled. */
  readonly isSketched?: true;
}

/** Folds the values of each group into one, chooses the first series of each group, or sorts all series. */
export type Evaluation =
  | { readonly kind: 'fold'; readonly state: StateKind }
  | { readonly kind: 'choose' | 'order'; readonly order: (a: number, b: number) => number };
