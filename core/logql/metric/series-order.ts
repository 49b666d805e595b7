import { sortSteps, type Steps } from '../../base/pace/steps.js';
import { labelsText } from '../../base/labels/labels-text.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import type { MetricExpr } from '../ast.js';
import { visit } from '../walk.js';
import { firstMs, type Columns } from './columns.js';
import { compareLabels } from './grouping.js';

/** Series printed per step. */
const stepSeries = 1_000;

/**
 * Sorts series as Loki answers them: by labels. Where Loki splits a range into parts, it sorts by the text of the labels, in which a longer
 * set comes before its prefix. Modifies the list.
 * @param splitMs length of the parts, 0 for none; a longer range of the query makes parts as long
 */
export function* sortSeriesOf<T>(
  series: T[],
  labelsOf: (one: T) => LabelSet,
  expr: MetricExpr,
  columns: Columns,
  splitMs: number,
): Steps<T[]> {
  if (!isSplit(columns, Math.max(splitMs, longestRangeMs(expr)), splitMs > 0))
    return yield* sortSteps(series, (a, b) => compareLabels(labelsOf(a), labelsOf(b)));
  const texts: { readonly one: T; readonly text: string }[] = [];
  for (const one of series) {
    texts.push({ one, text: labelsText(labelsOf(one)) });
    if (texts.length % stepSeries === 0) yield;
  }
  const sorted = yield* sortSteps(texts, (a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
  return sorted.map(({ one }) => one);
}

/** Whether the steps fall into more than one part: a part ends at the step before a multiple of its length. */
function isSplit(columns: Columns, partMs: number, isOn: boolean): boolean {
  const { kind, count, stepMs } = columns;
  if (!isOn || kind === 'instant') return false;
  // The last step belongs to the part before it.
  if (stepMs >= partMs) return count > 2;
  const start = firstMs(columns);
  const end = start + (count - 1) * stepMs;
  const next = (Math.floor(start / partMs) + 1) * partMs;
  const rest = (next - start) % stepMs;
  const last = next - (rest === 0 ? stepMs : rest);
  return last + stepMs < end;
}

function longestRangeMs(expr: MetricExpr): number {
  let longest = 0n;
  visit(expr, (node) => {
    if (node.kind === 'log-range' && node.intervalNanoseconds > longest) longest = node.intervalNanoseconds;
  });
  return Number(longest / 1_000_000n);
}
