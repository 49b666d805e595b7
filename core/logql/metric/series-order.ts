import type { LabelSet } from '../../labels/label-set.js';
import type { MetricExpr } from '../ast.js';
import { quoteGo } from '../values/quote.js';
import { visit } from '../walk.js';
import { firstMs, type Columns } from './columns.js';
import { compareLabels } from './grouping.js';

/**
 * Sorts series as Loki answers them: by labels; but where it reads a range in parts, by the text of the labels, in which a set
 * that goes on comes before one that ends.
 * @param splitMs length of the parts, 0 for none; a longer range of the query makes parts as long
 */
export function sortSeriesOf<T>(
  series: T[],
  labelsOf: (one: T) => LabelSet,
  expr: MetricExpr,
  columns: Columns,
  splitMs: number,
): void {
  if (!isSplit(columns, Math.max(splitMs, longestRangeMs(expr)), splitMs > 0)) {
    series.sort((a, b) => compareLabels(labelsOf(a), labelsOf(b)));
    return;
  }
  const texts = new Map(series.map((one) => [one, textOf(labelsOf(one))]));
  series.sort((a, b) => ((texts.get(a) ?? '') < (texts.get(b) ?? '') ? -1 : 1));
}

/** Whether there is a step in another part than the first one: parts end at the step before a multiple of their length. */
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

function textOf({ labels }: LabelSet): string {
  return `{${labels.map(([name, value]) => `${name}=${quoteGo(value)}`).join(', ')}}`;
}
