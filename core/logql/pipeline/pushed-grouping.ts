import type { Grouping, VectorAggregation } from '../ast.js';
import { rangeFunctions } from '../functions/range/index.js';

/**
 * The grouping of an aggregation that may be applied to samples before the range function inside it: that of a sum over an additive
 * function. As in Loki, it also decides which labels parsers extract, and so which errors can occur
 * (docs/protocol/errors-and-limits.md#pipeline-errors).
 */
export function pushedGrouping({ op, expr, grouping, span }: VectorAggregation): Grouping | undefined {
  if (expr.kind !== 'range-aggregation' || expr.grouping !== undefined) return undefined;
  const { join } = rangeFunctions[expr.op];
  if (join?.kind !== 'added' || join.op !== op) return undefined;
  return grouping ?? { span, without: false, labels: [] };
}
