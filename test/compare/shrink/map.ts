import {
  logQueriesOf,
  type Expr,
  type LogExpr,
  type LogRange,
  type MetricExpr,
} from '../../../core/logql/index.js';

/** The expression with changed log queries; undefined if none changes. */
export function mapLogQueries(expr: Expr, change: (query: LogExpr) => LogExpr | undefined): Expr | undefined {
  const others = new Map(logQueriesOf(expr).map((query) => [query, change(query)]));
  if ([...others.values()].every((other) => other === undefined)) return undefined;
  const changed = (query: LogExpr): LogExpr => others.get(query) ?? query;
  return expr.kind === 'log'
    ? changed(expr)
    : mapLogRanges(expr, (range) => ({ ...range, query: changed(range.query) }));
}

/** The expression with changed ranges. */
export function mapLogRanges(expr: MetricExpr, change: (range: LogRange) => LogRange): MetricExpr {
  switch (expr.kind) {
    case 'range-aggregation':
      return { ...expr, range: change(expr.range) };
    case 'vector-aggregation':
    case 'label-replace':
      return { ...expr, expr: mapLogRanges(expr.expr, change) };
    case 'binary':
      return { ...expr, left: mapLogRanges(expr.left, change), right: mapLogRanges(expr.right, change) };
    default:
      return expr;
  }
}
