import {
  logQueriesOf,
  type Expr,
  type LogExpr,
  type LogRange,
  type MetricExpr,
} from '../../../core/logql/index.js';

/** The expression with other log queries; undefined where none of them changes. */
export function mapSelectors(expr: Expr, change: (query: LogExpr) => LogExpr | undefined): Expr | undefined {
  const others = new Map(logQueriesOf(expr).map((query) => [query, change(query)]));
  if ([...others.values()].every((other) => other === undefined)) return undefined;
  const changed = (query: LogExpr): LogExpr => others.get(query) ?? query;
  return expr.kind === 'log'
    ? changed(expr)
    : mapLogRanges(expr, (range) => ({ ...range, query: changed(range.query) }));
}

const leastNs = 2_000_000n;

/** The expression with other intervals, whole milliseconds of at least one; undefined where they are as short as that already. */
export function mapRanges(
  expr: MetricExpr,
  change: (interval: bigint) => bigint,
): { readonly expr: MetricExpr; readonly largest: bigint } | undefined {
  let largest = 0n;
  const made = mapLogRanges(expr, (range) => {
    if (range.intervalNanoseconds < leastNs) return range;
    const interval = change(range.intervalNanoseconds);
    const whole = interval - (interval % 1_000_000n);
    if (whole > largest) largest = whole;
    return { ...range, intervalNanoseconds: whole };
  });
  return largest === 0n ? undefined : { expr: made, largest };
}

function mapLogRanges(expr: MetricExpr, change: (range: LogRange) => LogRange): MetricExpr {
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
