import type {
  Expr,
  Grouping,
  LabelFilter,
  LogExpr,
  LogRange,
  MetricExpr,
  RangeAggregation,
  Stage,
  VectorAggregation,
} from '../../../core/logql/index.js';

/** Expressions that are a part of another, or lack a part of it; the largest reductions first. */
export function* smallerExprs(expr: Expr): Generator<Expr> {
  if (expr.kind === 'log') yield* smallerLogs(expr);
  else {
    yield* logsIn(expr);
    yield* smallerMetrics(expr);
  }
}

/** The log query of a range aggregation without unwrap. */
function* logsIn(expr: MetricExpr): Generator<Expr> {
  if (expr.kind === 'range-aggregation' && expr.range.unwrap === undefined) yield expr.range.query;
}

function* smallerMetrics(expr: MetricExpr): Generator<MetricExpr> {
  switch (expr.kind) {
    case 'range-aggregation':
      yield* smallerRanges(expr);
      return;
    case 'vector-aggregation':
      yield* smallerVectors(expr);
      return;
    case 'binary':
      yield expr.left;
      yield expr.right;
      if (expr.matching !== undefined) yield { ...expr, matching: undefined };
      for (const left of smallerMetrics(expr.left)) yield { ...expr, left };
      for (const right of smallerMetrics(expr.right)) yield { ...expr, right };
      return;
    case 'label-replace':
      yield expr.expr;
      for (const inner of smallerMetrics(expr.expr)) yield { ...expr, expr: inner };
      return;
    default:
  }
}

function* smallerVectors(expr: VectorAggregation): Generator<MetricExpr> {
  yield expr.expr;
  for (const grouping of smallerGroupings(expr.grouping)) yield { ...expr, grouping };
  for (const inner of smallerMetrics(expr.expr)) yield { ...expr, expr: inner };
}

function* smallerGroupings(grouping: Grouping | undefined): Generator<Grouping | undefined> {
  if (grouping === undefined) return;
  yield undefined;
  if (grouping.labels.length < 2) return;
  for (const labels of withoutOne(grouping.labels)) yield { ...grouping, labels };
}

function* smallerRanges(expr: RangeAggregation): Generator<MetricExpr> {
  for (const grouping of smallerGroupings(expr.grouping)) yield { ...expr, grouping };
  const { range } = expr;
  if (range.unwrap !== undefined && expr.op !== 'count_over_time')
    yield {
      ...expr,
      op: 'count_over_time',
      parameter: undefined,
      grouping: undefined,
      range: { ...range, unwrap: undefined },
    };
  else if (expr.op !== 'count_over_time' && range.unwrap === undefined)
    yield { ...expr, op: 'count_over_time' };
  for (const smaller of smallerLogRanges(range)) yield { ...expr, range: smaller };
}

function* smallerLogRanges(range: LogRange): Generator<LogRange> {
  if (range.offsetNanoseconds !== 0n) yield { ...range, offsetNanoseconds: 0n };
  const { unwrap } = range;
  if (unwrap !== undefined) {
    for (const filters of withoutOne(unwrap.filters)) yield { ...range, unwrap: { ...unwrap, filters } };
    if (unwrap.conversion !== undefined) yield { ...range, unwrap: { ...unwrap, conversion: undefined } };
  }
  for (const query of smallerLogs(range.query)) yield { ...range, query };
}

function* smallerLogs(expr: LogExpr): Generator<LogExpr> {
  for (const stages of withoutOne(expr.stages)) yield { ...expr, stages };
  const { matchers } = expr.selector;
  for (const fewer of withoutOne(matchers)) {
    // A selector with only tenants would be a different kind of difference.
    if (fewer.some(({ name }) => name !== '__tenant_id__'))
      yield { ...expr, selector: { ...expr.selector, matchers: fewer } };
  }
  for (const [index, stage] of expr.stages.entries()) {
    for (const smaller of smallerStages(stage)) yield { ...expr, stages: expr.stages.with(index, smaller) };
  }
}

function* smallerStages(stage: Stage): Generator<Stage> {
  switch (stage.kind) {
    case 'line-filter':
      if (stage.alternatives.length > 1)
        for (const alternatives of withoutOne(stage.alternatives)) yield { ...stage, alternatives };
      return;
    case 'json':
      for (const params of withoutOne(stage.params)) yield { ...stage, params };
      return;
    case 'logfmt':
      for (const params of withoutOne(stage.params)) yield { ...stage, params };
      if (stage.strict) yield { ...stage, strict: false };
      if (stage.keepEmpty) yield { ...stage, keepEmpty: false };
      return;
    case 'label-filter':
      for (const filter of smallerFilters(stage.filter)) yield { ...stage, filter };
      return;
    case 'label-format':
      if (stage.assignments.length > 1)
        for (const assignments of withoutOne(stage.assignments)) yield { ...stage, assignments };
      return;
    case 'drop':
    case 'keep':
      if (stage.items.length > 1) for (const items of withoutOne(stage.items)) yield { ...stage, items };
      return;
    default:
  }
}

function* smallerFilters(filter: LabelFilter): Generator<LabelFilter> {
  if (filter.kind !== 'and' && filter.kind !== 'or') return;
  yield filter.left;
  yield filter.right;
  for (const left of smallerFilters(filter.left)) yield { ...filter, left };
  for (const right of smallerFilters(filter.right)) yield { ...filter, right };
}

function* withoutOne<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (const index of items.keys()) yield items.toSpliced(index, 1);
}
