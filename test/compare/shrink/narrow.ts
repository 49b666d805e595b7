import type { Expr, MetricExpr } from '../../../core/logql/index.js';
import type { Dataset } from '../data/dataset.js';
import { linesOf } from '../lines.js';
import type { Question } from '../question.js';
import { asking } from './asking.js';
import { mapLogRanges } from './map.js';

const millisecondNs = 1_000_000n;

/** The question about half of the entries that it takes in, then about a quarter less at each end. */
export function* narrower(question: Question, expr: Expr | undefined, data: Dataset): Generator<Question> {
  const times = [...new Set(linesOf(question, data).map(({ entry }) => entry.ns))].sort((a, b) =>
    a < b ? -1 : 1,
  );
  if (times.length < 2) return;
  const [middle, quarter] = [Math.ceil(times.length / 2), Math.floor(times.length / 4)];
  yield* between(question, expr, times.slice(0, middle));
  yield* between(question, expr, times.slice(middle));
  if (quarter === 0) return;
  yield* between(question, expr, times.slice(quarter));
  yield* between(question, expr, times.slice(0, -quarter));
}

function* between(question: Question, expr: Expr | undefined, times: readonly bigint[]): Generator<Question> {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return;
  if (question.window !== undefined && (question.path !== 'query_range' || expr?.kind === 'log'))
    yield { ...question, window: { startNs: first, endNs: last + 1n, form: 'ns' } };
  if (question.atNs === undefined || expr === undefined || expr.kind === 'log') return;
  yield* asking({ ...question, atNs: last }, withIntervals(expr, last - first));
}

/** All ranges as long as the span, in whole milliseconds, and not shifted. */
function withIntervals(expr: MetricExpr, spanNs: bigint): MetricExpr {
  const intervalNanoseconds = (spanNs / millisecondNs + 1n) * millisecondNs;
  return mapLogRanges(expr, (range) => ({ ...range, intervalNanoseconds, offsetNanoseconds: 0n }));
}
