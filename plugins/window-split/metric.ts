import { rangeFunctions } from '../../core/logql/functions/range/index.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import { sortSeriesOf } from '../../core/logql/metric/result.js';
import {
  gridColumns,
  defaultMetricLimits,
  firstMs,
  gridOf,
  isOverBinary,
  leavesOf,
  type Columns,
} from '../../core/logql/metric/index.js';
import type { CheckedMetric } from '../../core/engine/plan/checked-request.js';
import { mergeMatrix } from '../../core/wire/answer/merge/index.js';
import type { Answer, MatrixAnswer } from '../../core/wire/answer/types.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';
import { cutMatrix } from './cut.js';
import {
  commonSteps,
  fewestWidened,
  type StepRange,
  stepsIn,
  type TimeWindow,
  windowsOf,
} from './windows.js';
import type { SelectorRead } from './line-counts.js';
import { FallBackToWholeRange, type KnownWindow, type Windowing } from './windowing.js';

const msNs = 1_000_000n;
const hourMs = defaultMetricLimits.splitMs;

/** A window of a metric query. */
interface Slot {
  readonly window: KnownWindow;
  /** All its steps, and those that the answer shows. */
  readonly whole: StepRange;
  readonly shown: StepRange;
}

/**
 * Answers a metric query from windows. A window contains the values of its steps: a step only depends on the lines in its own ranges, so
 * windows of any function can be concatenated without adding anything up.
 * @returns undefined if the query should be requested as a whole
 */
export async function answerMetricWindows(
  plan: CheckedMetric,
  request: QueryRangeRequest,
  windowing: Windowing,
): Promise<Answer | undefined> {
  const columns = gridColumns(gridOf(request.range, request.stepNs));
  const { stepMs, count } = columns;
  const asked = { firstMs: firstMs(columns), lastMs: firstMs(columns) + (count - 1) * stepMs };
  const readings = readingsOf(plan);
  const cutting = windowing.cutting(readings);
  const isByTheHour = leavesOf(plan.tree).some(({ isCapped }) => isCapped);
  const windows = windowsOf(
    asked.firstMs,
    asked.lastMs + 1,
    isByTheHour ? Math.max(stepMs, hourMs) : stepMs,
    cutting,
  );
  if (windows.length === 0 || readings.length === 0) return undefined;
  if ((isByTheHour && windows.some(cutsAnHour)) || windowing.isBeyondReach(asked.firstMs, readings))
    return undefined;
  if (await windowing.isFirstOfMany(readings)) return undefined;
  windowing.begin(windows);
  const known = await windowing.known(windows, readings, !makesSomethingOfNothing(plan.tree));
  const slots = known.flatMap((window): Slot[] => {
    const whole = stepsIn(window, stepMs);
    const shown = whole && commonSteps(whole, asked);
    return whole === undefined || shown === undefined ? [] : [{ window, whole, shown }];
  });
  const parts = await answersOf(request, slots, windowing);
  return windowing.together(() => joined(parts, plan, columns, windowing));
}

/** The rows that the steps of a query read. */
function readingsOf({ tree }: CheckedMetric): readonly SelectorRead[] {
  return leavesOf(tree).map(({ range: { range } }) => ({
    matchers: range.query.selector.matchers,
    lookbackMs: Number(range.intervalNanoseconds / msNs) + 1,
    offsetMs: Number(range.offsetNanoseconds / msNs),
  }));
}

/** True if a window ends within a clock hour: Loki counts the series of some parts per clock hour. */
function cutsAnHour({ startMs, endMs }: TimeWindow): boolean {
  return startMs % hourMs !== 0 || endMs % hourMs !== 0;
}

/** The answers of the windows in time order. */
async function answersOf(
  asked: QueryRangeRequest,
  slots: readonly Slot[],
  windowing: Windowing,
): Promise<readonly MatrixAnswer[]> {
  const { kept } = windowing;
  const found = await kept.find(slots.map(({ window }) => window.key));
  const parts = new Map<Slot, MatrixAnswer>();
  const runs: Slot[][] = [];
  let run: Slot[] | undefined;
  for (const [place, slot] of slots.entries()) {
    const packed = found[place];
    if (packed === undefined && !slot.window.isEmpty) {
      if (run === undefined) runs.push((run = []));
      run.push(slot);
      continue;
    }
    run = undefined;
    if (packed === undefined) {
      windowing.skipped();
      continue;
    }
    const answer = await kept.unpack(packed);
    if (answer.kind === 'matrix') parts.set(slot, await shownOf(slot, answer, windowing));
  }
  /**
   * The steps to read: the whole window if it will be cached. Of the oldest one only a part is shown, but the next refresh shows it too.
   */
  const rangeOf = (slot: Slot): StepRange => {
    const isOldest = slot === slots[0] && slots.length >= fewestWidened;
    return slot.window.key !== undefined && (isOldest || isShownWhole(slot)) ? slot.whole : slot.shown;
  };
  /** Reads adjacent windows with one call. */
  const read = async (
    some: readonly Slot[],
    signal: AbortSignal,
  ): Promise<readonly (readonly [Slot, MatrixAnswer])[]> => {
    const ranges = some.map(rangeOf);
    const [first, last] = [ranges[0], ranges.at(-1)];
    if (first === undefined || last === undefined) return [];
    const range = { startNs: BigInt(first.firstMs) * msNs, endNs: BigInt(last.lastMs) * msNs };
    const request = { ...asked, range };
    const answer = await windowing.readMatrix({ request, windows: some.length }, signal);
    const cuts = await atPace(cutMatrix(answer, ranges), new Pacer(signal));
    const own: (readonly [Slot, MatrixAnswer])[] = [];
    for (const [place, slot] of some.entries()) {
      const cut = cuts[place];
      if (cut === undefined) continue;
      const { key } = slot.window;
      const isKept = answer.isProvisional !== true && ranges[place] === slot.whole;
      if (key !== undefined && isKept) await kept.keep(key, cut);
      const part = await shownOf(slot, cut, windowing);
      // The cost of the read is charged to its first window.
      own.push([slot, place === 0 ? { ...part, stats: answer.stats } : part]);
    }
    return own;
  };
  const groups = runs.flatMap((adjacent) => windowing.divided(adjacent));
  await windowing.inParallel(groups, async (group, signal) => {
    const all = await windowing.readRun(group, signal, (some) => read(some, signal));
    for (const [slot, part] of all.flat()) parts.set(slot, part);
  });
  return slots.flatMap((slot) => parts.get(slot) ?? []);
}

async function shownOf(slot: Slot, answer: MatrixAnswer, { signal }: Windowing): Promise<MatrixAnswer> {
  if (isShownWhole(slot)) return answer;
  const [part] = await atPace(cutMatrix(answer, [slot.shown]), new Pacer(signal));
  return part ?? answer;
}

function isShownWhole({ whole, shown }: Slot): boolean {
  return whole.firstMs === shown.firstMs && whole.lastMs === shown.lastMs;
}

/** True if there may be values without any lines. */
function makesSomethingOfNothing(tree: CheckedMetric['tree']): boolean {
  switch (tree.kind) {
    case 'leaf':
      return rangeFunctions[tree.leaf.range.op].ofNothing !== undefined;
    case 'aggregate':
    case 'label-replace':
      return makesSomethingOfNothing(tree.of);
    default:
      return true;
  }
}

async function joined(
  parts: readonly MatrixAnswer[],
  { expr }: CheckedMetric,
  columns: Columns,
  { signal, maxSeries }: Windowing,
): Promise<MatrixAnswer> {
  const pacer = new Pacer(signal);
  const merged = await atPace(mergeMatrix(parts), pacer);
  // The query as a whole has its own error for too many series.
  if (maxSeries > 0 && merged.series.length > maxSeries) throw new FallBackToWholeRange();
  if (await isOverBinary(expr, merged, defaultMetricLimits, pacer)) throw new FallBackToWholeRange();
  const series = await atPace(
    sortSeriesOf([...merged.series], ({ labels }) => labels, expr, columns, defaultMetricLimits.splitMs),
    pacer,
  );
  return { ...merged, series, stats: { ...merged.stats, entriesReturned: series.length } };
}
