import { failureText, fetchExplanation, fetchLabels, fetchRange, newRunName } from '../api.js';
import { histogramOf, histogramOfRows, type Histogram } from '../model/histogram.js';
import type { LogRow } from '../model/log-rows.js';
import type { QueryState } from '../model/query-state.js';
import { seriesOf, type Series } from '../model/series.js';
import { barRange, fromWholeStep, nsRange, onSteps, stepOf, type TimeRange } from '../model/time-range.js';
import type { PageExplanation, WireStats } from '../model/wire.js';
import { readLines } from './read-lines.js';

/** Lines, and their number by level over the whole range. */
export interface LogResult {
  readonly kind: 'logs';
  readonly rows: readonly LogRow[];
  /** True if there may be more lines in the range. */
  readonly isLimited: boolean;
  /** The histogram, or the server's error text if there is none. */
  readonly histogram: Histogram | string;
  /** True for a tenant that recently had no labels, which may be misspelt. */
  readonly isUnknownTenant: boolean;
  /** True while lines or the histogram are still on their way; the histogram then counts the lines so far. */
  readonly isReading: boolean;
}
export interface SeriesResult {
  readonly kind: 'series';
  readonly series: readonly Series[];
  readonly stepSeconds: number;
}

/** The result of a run. */
export interface Answered {
  readonly kind: 'answered';
  /** The query that was run. */
  readonly asked: QueryState;
  readonly explanation: PageExplanation;
  readonly result: LogResult | SeriesResult;
  readonly range: TimeRange;
  readonly tookMs: number;
  readonly stats: WireStats | undefined;
  readonly warnings: readonly string[];
  /** The names under which the server stores the cost of the query and its histogram. */
  readonly runs: { readonly query: string; readonly histogram: string | undefined };
}

const maxBars = 80;
const maxPoints = 240;
const dayMs = 86_400_000;

/** Requests lines with their histogram, or series; `onPart` gets what there is so far, if the rest takes longer. */
export async function answer(
  state: QueryState,
  range: TimeRange,
  signal: AbortSignal,
  onPart: (part: Answered) => void,
): Promise<Answered> {
  const barStep = stepOf(range, maxBars);
  // Explaining does not call the backend, so a rejected query costs nothing.
  const before = await fetchExplanation(state, barStep, signal);
  const isLog = before.kind === 'log';
  const step = isLog ? barStep : stepOf(range, maxPoints);
  // Bars and points are at whole steps; lines start where the first bar does, so that both agree.
  const isMoving = state.range !== 'custom';
  const shown = !isLog ? onSteps(range, step) : isMoving ? fromWholeStep(range, step) : range;
  const runs = { query: newRunName(), histogram: before.histogram === undefined ? undefined : newRunName() };
  const asked = { ...state, range: nsRange(shown), step, run: runs.query };
  const startedMs = performance.now();
  const answered = (result: Answered['result'], more: Partial<Answered> = {}): Answered => ({
    kind: 'answered',
    asked: state,
    explanation: before,
    range: shown,
    tookMs: performance.now() - startedMs,
    stats: undefined,
    warnings: [],
    runs,
    result,
    ...more,
  });
  // Running the query may have taught the proxy stored names, which change the plan.
  const explainAgain = (): Promise<PageExplanation> =>
    before.names === 'unknown' ? fetchExplanation(state, barStep, signal) : Promise.resolve(before);

  if (!isLog) {
    const { data, warnings = [] } = await fetchRange(asked, signal);
    const tookMs = performance.now() - startedMs;
    const series = data.resultType === 'matrix' ? seriesOf(data.result) : [];
    return answered(
      { kind: 'series', series, stepSeconds: step },
      { tookMs, stats: data.stats, warnings, explanation: await explainAgain() },
    );
  }

  const barsOf = barRange(shown, barStep);
  const bars = fetchBars(state, before, barsOf, barStep, runs.histogram, signal);
  // Handled, because the bars may fail after the lines have.
  bars.catch(() => undefined);
  const logs = (rows: readonly LogRow[]): LogResult => ({
    kind: 'logs',
    rows,
    isLimited: false,
    histogram: histogramOfRows(rows, barsOf, barStep),
    isUnknownTenant: false,
    isReading: true,
  });
  const { rows, stats, warnings } = await readLines(asked, signal, (part) => onPart(answered(logs(part))));
  const read = { tookMs: performance.now() - startedMs, stats, warnings };
  const isLimited = rows.length >= state.limit;
  if (rows.length > 0 && (isLimited || before.names === 'unknown')) onPart(answered(logs(rows), read));
  const explanation = await explainAgain();
  // With all lines loaded, the page counts them; the server would count again, including newer lines.
  const counted = isLimited ? { histogram: await bars } : {};
  const isUnknownTenant = rows.length === 0 && (await hasNoLabels(state.tenant));
  return answered(
    { ...logs(rows), ...counted, isLimited, isUnknownTenant, isReading: false },
    { ...read, explanation },
  );
}

/** The bars of a log query; if they fail, lines are shown without them. */
async function fetchBars(
  state: QueryState,
  { histogram: query }: PageExplanation,
  range: TimeRange,
  step: number,
  run: string | undefined,
  signal: AbortSignal,
): Promise<Histogram | string> {
  if (query === undefined || run === undefined) return '';
  try {
    const { data } = await fetchRange({ ...state, query, range: nsRange(range), step, run }, signal);
    return histogramOf(data.resultType === 'matrix' ? data.result : [], range, step);
  } catch (error) {
    return failureText(error);
  }
}

/** True if a tenant has had no logs for a day. */
async function hasNoLabels(tenant: string): Promise<boolean> {
  if (tenant === '') return false;
  const endMs = Date.now();
  try {
    return (
      (await fetchLabels('', { tenant, range: nsRange({ startMs: endMs - dayMs, endMs }) })).length === 0
    );
  } catch {
    return false;
  }
}
