import type { Expr, Grouping, LogExpr, MetricExpr, Unwrap, VectorMatching } from '../../logql/ast.js';
import { descriptorOf } from '../../logql/stages/index.js';
import { labelFilter } from '../../logql/stages/label-filter.js';
import type { Naming } from '../../victoria/names/naming.js';

/**
 * A query with the names that entries have here, where `-logql-dotted-names=accept` lets stored names with dots into queries although
 * labels or metadata are shown with underscores. Everywhere else the query is the same.
 */
export function withClientNames<Query extends Expr>(expr: Query, naming: Naming): Query {
  if (naming.dottedNames === 'reject' || naming.labelStyle === 'passthrough') return expr;
  const renamed = expr.kind === 'log' ? renameLogs(expr, naming) : renameMetric(expr, naming);
  // Renaming keeps the kind of every node.
  return renamed as Query;
}

function renameLogs(expr: LogExpr, naming: Naming): LogExpr {
  return {
    ...expr,
    stages: expr.stages.map((stage) => descriptorOf(stage).rename(stage, (name) => naming.entryName(name))),
  };
}

function renameMetric(expr: MetricExpr, naming: Naming): MetricExpr {
  switch (expr.kind) {
    case 'literal':
    case 'vector':
      return expr;
    case 'range-aggregation': {
      const { range } = expr;
      const unwrap = range.unwrap === undefined ? undefined : renameUnwrap(range.unwrap, naming);
      return {
        ...expr,
        grouping: renameGrouping(expr.grouping, naming),
        range: { ...range, query: renameLogs(range.query, naming), unwrap },
      };
    }
    case 'vector-aggregation':
      return {
        ...expr,
        grouping: renameGrouping(expr.grouping, naming),
        expr: renameMetric(expr.expr, naming),
      };
    case 'binary':
      return {
        ...expr,
        matching: renameMatching(expr.matching, naming),
        left: renameMetric(expr.left, naming),
        right: renameMetric(expr.right, naming),
      };
    case 'label-replace':
      return { ...expr, expr: renameMetric(expr.expr, naming) };
  }
}

function renameUnwrap(unwrap: Unwrap, naming: Naming): Unwrap {
  const filters = unwrap.filters.map((one) => labelFilter.rename(one, (name) => naming.entryName(name)));
  return { ...unwrap, name: naming.entryName(unwrap.name), filters };
}

function renameGrouping(grouping: Grouping | undefined, naming: Naming): Grouping | undefined {
  return grouping === undefined ? undefined : { ...grouping, labels: renameAll(grouping.labels, naming) };
}

function renameMatching(matching: VectorMatching | undefined, naming: Naming): VectorMatching | undefined {
  if (matching === undefined) return undefined;
  const { labels, include } = matching;
  return { ...matching, labels: renameAll(labels, naming), include: renameAll(include, naming) };
}

function renameAll(names: readonly string[], naming: Naming): readonly string[] {
  return names.map((name) => naming.entryName(name));
}
