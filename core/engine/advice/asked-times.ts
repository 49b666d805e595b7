import { gcd } from '../metric/count/counting.js';
import { printGoMs } from '../../base/time/index.js';
import type { LogRange } from '../../logql/ast.js';
import { visit } from '../../logql/index.js';
import type { AdviceRule } from './advice.js';
import { firstStrategy } from '../plan/explain/strategies.js';
import { readsRows } from './savings.js';

const nsPerMs = 1_000_000n;
/** Number of points from which a chart shows no more. */
const usefulPoints = 2_000;

/** A step that makes more points than a chart can show. */
export const fineStep: AdviceRule = {
  id: 'fine-step',
  title: 'The step makes more points than a chart shows',
  find(expr, { times }) {
    if (expr.kind === 'log' || times === undefined || times.kind === 'instant') return undefined;
    const points = Math.floor(times.rangeMs / times.stepMs) + 1;
    if (points <= usefulPoints) return undefined;
    return {
      text: `The step of ${printGoMs(times.stepMs)} makes ${points} points in ${printGoMs(times.rangeMs)}, each of which is counted and sent. Let Grafana choose the step, or set a longer one.`,
      example: '[$__auto]',
    };
  },
};

/** Factor by which a window has more parts than it needs. */
const manyParts = 5n;

/** A range and a step with a small common divisor, which is the length of the buckets that the backend counts. */
export const unevenStep: AdviceRule = {
  id: 'uneven-step',
  title: 'The range of an aggregation is not a multiple of the step',
  find(expr, { times, explanation }) {
    if (times === undefined || times.kind === 'instant') return undefined;
    const isCounted = explanation.reads.some(
      ({ strategies }) => firstStrategy(strategies)?.cost?.sends === 'groups',
    );
    if (!isCounted) return undefined;
    for (const { intervalNanoseconds } of rangesOf(expr)) {
      const [range, step] = [intervalNanoseconds / nsPerMs, BigInt(Math.round(times.stepMs))];
      const bucket = gcd(range, step);
      const longest = range < step ? range : step;
      if (bucket === 0n || longest / bucket < manyParts) continue;
      return {
        text: `The range of ${printGoMs(Number(range))} and the step of ${printGoMs(times.stepMs)} have only ${printGoMs(Number(bucket))} in common, so the backend counts in ${longest / bucket} times as many intervals as it would if one were a multiple of the other.`,
        example: '[$__auto]',
      };
    }
    return undefined;
  },
};

const longRangeMs = 6 * 3_600_000;

/** Rows of many hours that are read for each value. */
export const recordingRule: AdviceRule = {
  id: 'recording-rule',
  title: 'Rows of many hours are read for each value',
  find(expr, { explanation }) {
    const longest = Math.max(
      0,
      ...rangesOf(expr).map(({ intervalNanoseconds }) => Number(intervalNanoseconds / nsPerMs)),
    );
    if (longest < longRangeMs || !explanation.reads.some(readsRows)) return undefined;
    return {
      text: `Each refresh reads the rows of ${printGoMs(longest)} anew. A recording rule of vmalert over a short range stores the value as a metric, which a panel reads at once.`,
    };
  },
};

function rangesOf(expr: Parameters<AdviceRule['find']>[0]): readonly LogRange[] {
  const found: LogRange[] = [];
  visit(expr, (node) => {
    if (node.kind === 'log-range') found.push(node);
  });
  return found;
}
