import type {
  Expr,
  Grouping,
  LabelFilter,
  LabelFormat,
  LabelItem,
  LogExpr,
  Matcher,
  MetricExpr,
  ParserParam,
  Stage,
  Unwrap,
  VectorMatching,
} from '../../logql/ast.js';
import { isComparison } from '../../logql/pipeline/label-comparison.js';
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
  return { ...expr, stages: expr.stages.map((stage) => renameStage(stage, naming)) };
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
  const filters = unwrap.filters.map((one) => ({ ...one, filter: renameFilter(one.filter, naming) }));
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

function renameStage(stage: Stage, naming: Naming): Stage {
  switch (stage.kind) {
    case 'label-filter':
      return { ...stage, filter: renameFilter(stage.filter, naming) };
    case 'json':
    case 'logfmt':
      return { ...stage, params: stage.params.map((param) => renameParam(param, naming)) };
    case 'label-format':
      return { ...stage, assignments: stage.assignments.map((one) => renameAssignment(one, naming)) };
    case 'drop':
    case 'keep':
      return { ...stage, items: stage.items.map((item) => renameItem(item, naming)) };
    case 'line-filter':
    case 'line-format':
    case 'regexp':
    case 'pattern':
    case 'unpack':
    case 'decolorize':
      return stage;
  }
}

function renameFilter(filter: LabelFilter, naming: Naming): LabelFilter {
  if (isComparison(filter)) return { ...filter, name: naming.entryName(filter.name) };
  return { ...filter, left: renameFilter(filter.left, naming), right: renameFilter(filter.right, naming) };
}

function renameParam(param: ParserParam, naming: Naming): ParserParam {
  return { ...param, name: naming.entryName(param.name) };
}

function renameAssignment(one: LabelFormat, naming: Naming): LabelFormat {
  const name = naming.entryName(one.name);
  return one.kind === 'rename' ? { ...one, name, source: naming.entryName(one.source) } : { ...one, name };
}

function renameItem(item: LabelItem, naming: Naming): LabelItem {
  const matcher: Matcher | undefined =
    item.matcher === undefined ? undefined : { ...item.matcher, name: naming.entryName(item.matcher.name) };
  return { ...item, name: naming.entryName(item.name), matcher };
}
