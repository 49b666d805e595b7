import { failureText, fetchExplanation, fetchLabels, fetchRange, newRunName } from '../api.js';
import { histogramOf, histogramOfRows, type Histogram } from '../model/histogram.js';
import { logRows, type LogRow } from '../model/log-rows.js';
import type { QueryState } from '../model/query-state.js';
import { seriesOf, type Series } from '../model/series.js';
import { barRange, fromWholeStep, nsRange, onSteps, stepOf, type TimeRange } from '../model/time-range.js';
import type { PageExplanation, WireStats } from '../model/wire.js';

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

/** Requests lines with their histogram, or series. */
export async function answer(state: QueryState, range: TimeRange, signal: AbortSignal): Promise<Answered> {
  const barStep = stepOf(range, maxBars);
  // Explaining does not call the backend, so a rejected query costs nothing.
  const before = await fetchExplanation(state, barStep, signal);
  const isLog = before.kind === 'log';
  const step = isLog ? barStep : stepOf(range, maxPoints);
  // Bars and points are at whole steps; lines start where the first bar does, so that both agree.
  const isMoving = state.range !== 'custom';
  const shown = !isLog ? onSteps(range, step) : isMoving ? fromWholeStep(range, step) : range;
  const runs = { query: newRunName(), histogram: before.histogram === undefined ? undefined : newRunName() };
  const startedMs = performance.now();
  const bars = fetchBars(state, before, barRange(shown, barStep), barStep, runs.histogram, signal);
  // Handled, because the bars may fail after the lines have.
  bars.catch(() => undefined);
  const { data, warnings = [] } = await fetchRange(
    { ...state, range: nsRange(shown), step, run: runs.query },
    signal,
  );
  const tookMs = performance.now() - startedMs;
  // Running the query may have taught the proxy stored names, which change the plan.
  const explanation = before.names === 'unknown' ? await fetchExplanation(state, barStep, signal) : before;
  const shared = {
    kind: 'answered',
    asked: state,
    explanation,
    range: shown,
    tookMs,
    stats: data.stats,
    warnings,
    runs,
  } as const;
  if (data.resultType === 'matrix')
    return { ...shared, result: { kind: 'series', series: seriesOf(data.result), stepSeconds: step } };
  const rows = logRows(data.result, state.direction);
  const isLimited = rows.length >= state.limit;
  // With all lines loaded, the page counts them; the server would count again, including newer lines.
  const histogram = isLimited ? await bars : histogramOfRows(rows, barRange(shown, barStep), barStep);
  const isUnknownTenant = rows.length === 0 && (await hasNoLabels(state.tenant));
  return { ...shared, result: { kind: 'logs', rows, isLimited, histogram, isUnknownTenant } };
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
