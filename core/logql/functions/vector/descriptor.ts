import type { Grouping, MetricExpr } from '../../ast.js';
import type { StateKind } from '../../metric/states.js';
import type { Join } from '../join.js';

/** All that there is to know of a vector aggregation. */
export interface VectorFunction {
  /** The number of series in front of the expression. */
  readonly parameter: 'required' | 'refused';
  readonly evaluation: Evaluation;
  /** How its values in parts of the logs become its value, if they can. */
  readonly join: Join | undefined;
  /** Where Loki evaluates it if it divides the range of an instant query: for each part, over all of them; undefined: it does not divide. */
  readonly timeParts: 'each' | 'all' | undefined;
  /** True when Loki divides it into shards, if it does so with the expression in it; undefined: never. */
  readonly shardsOver:
    ((expr: MetricExpr, reducesLabels: (expr: MetricExpr) => boolean) => boolean) | undefined;
  /** Loki's text for a grouping that it refuses. */
  readonly groupingFault?: (grouping: Grouping) => string | undefined;
  /** True when its shards are sketches, which Loki has for instant queries alone, where they are allowed. */
  readonly isSketched?: true;
}

/** Folds the values of each group into one, chooses the first series of each group, or sorts all series. */
export type Evaluation =
  | { readonly kind: 'fold'; readonly state: StateKind }
  | { readonly kind: 'choose' | 'order'; readonly order: (a: number, b: number) => number };
