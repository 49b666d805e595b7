import type { Expr, Grouping, MetricExpr, VectorAggregation } from '../../logql/ast.js';
import { vectorFunctions } from '../../logql/functions/vector/index.js';
import { mapMetric } from '../../logql/walk.js';
import type { AdviceRule } from './advice.js';

/** `sum(sum by (a) (x))` has the values of `sum(x)`, and so have minima and maxima. */
export const nestedAggregation: AdviceRule = {
  id: 'nested-aggregation',
  title: 'An aggregation is aggregated again by the same function',
  answers: 'same',
  find(expr) {
    const rewritten = withoutNested(expr);
    return rewritten === expr
      ? undefined
      : {
          text: 'The inner aggregation makes groups that the outer one adds up again. One aggregation lets the backend count fewer groups.',
          rewritten,
        };
  },
};

function withoutNested(expr: Expr): Expr {
  if (expr.kind === 'log') return expr;
  return mapMetric(expr, (node): MetricExpr => {
    if (node.kind !== 'vector-aggregation' || node.expr.kind !== 'vector-aggregation') return node;
    const inner = node.expr;
    if (!isRepeatable(node, inner) || inner.expr.kind !== 'range-aggregation') return node;
    return { ...node, expr: inner.expr };
  });
}

function isRepeatable(outer: VectorAggregation, inner: VectorAggregation): boolean {
  const { join } = vectorFunctions[outer.op];
  if (outer.op !== inner.op || join === undefined || join.kind === 'divided') return false;
  return isWithin(labelsOf(outer.grouping), inner.grouping);
}

/** The labels of the groups; undefined for a grouping by all other labels. */
function labelsOf(grouping: Grouping | undefined): readonly string[] | undefined {
  if (grouping === undefined) return [];
  return grouping.without ? undefined : grouping.labels;
}

/** True if groups by these labels consist of whole groups of the other grouping. */
function isWithin(labels: readonly string[] | undefined, grouping: Grouping | undefined): boolean {
  if (labels === undefined) return false;
  if (labels.length === 0) return true;
  const inner = labelsOf(grouping);
  return inner !== undefined && labels.every((label) => inner.includes(label));
}
