import type { Expr, MetricExpr } from '../../../core/logql/index.js';
import type { Dataset } from '../data/dataset.js';
import { linesOf } from '../lines.js';
import type { Question } from '../question.js';
import { asking } from './asking.js';
import { mapLogRanges } from './map.js';

const millisecondNs = 1_000_000n;

/** The question about each half of the entries that it selects, then without a quarter at either end. */
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

/** Sets all ranges to the span, in whole milliseconds, without an offset. */
function withIntervals(expr: MetricExpr, spanNs: bigint): MetricExpr {
  const intervalNanoseconds = (spanNs / millisecondNs + 1n) * millisecondNs;
  return mapLogRanges(expr, (range) => ({ ...range, intervalNanoseconds, offsetNanoseconds: 0n }));
}
