import { useCallback, useRef, useState } from 'preact/hooks';
import { fetchExplanation, fetchRange, ServerError } from './api.js';
import { histogramOf, type Histogram } from './model/histogram.js';
import { logRows, type LogRow } from './model/log-rows.js';
import type { QueryState } from './model/query-state.js';
import { seriesOf, type Series } from './model/series.js';
import { barRange, onSteps, rangeOf, stepOf, type TimeRange } from './model/time-range.js';
import type { PageExplanation, WireStats } from './model/wire.js';

/** Lines, and their number by level over the whole range. */
export interface LogResult {
  readonly kind: 'logs';
  readonly rows: readonly LogRow[];
  readonly streams: number;
  /** The server's error text when there is no histogram. */
  readonly histogram: Histogram | string;
}
export interface SeriesResult {
  readonly kind: 'series';
  readonly series: readonly Series[];
  readonly stepSeconds: number;
}

/** The result of the last run. */
export type Outcome =
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly query: string; readonly text: string }
  | Answered;
export interface Answered {
  readonly kind: 'answered';
  readonly explanation: PageExplanation;
  readonly result: LogResult | SeriesResult;
  readonly range: TimeRange;
  readonly tookMs: number;
  readonly stats: WireStats | undefined;
  readonly warnings: readonly string[];
}

export interface QueryRun {
  readonly outcome: Outcome;
  readonly isRunning: boolean;
  readonly run: (state: QueryState) => void;
}

const maxBars = 80;
const maxPoints = 240;

/** Runs queries, one at a time: a new one cancels the one before. The previous outcome stays until the new one arrives. */
export function useQuery(onDone: () => void): QueryRun {
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'none' });
  const [isRunning, setRunning] = useState(false);
  const running = useRef<AbortController | undefined>(undefined);
  const run = useCallback(
    (state: QueryState) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const finish = (next: Outcome): void => {
        if (running.current !== controller) return;
        setOutcome(next);
        setRunning(false);
        onDone();
      };
      setRunning(true);
      answer(state, controller.signal).then(finish, (error: unknown) => {
        const text = error instanceof ServerError ? error.message : 'The proxy does not answer.';
        finish({ kind: 'failed', query: state.query, text });
      });
    },
    [onDone],
  );
  return { outcome, isRunning, run };
}

async function answer(state: QueryState, signal: AbortSignal): Promise<Outcome> {
  const range = rangeOf(state, Date.now());
  if (typeof range === 'string') return { kind: 'failed', query: state.query, text: range };
  const barStep = stepOf(range, maxBars);
  // Explaining does not ask the backend, so a refused query costs nothing.
  const before = await fetchExplanation(state, barStep, signal);
  const step = before.kind === 'log' ? barStep : stepOf(range, maxPoints);
  // The points of series are on whole steps, so the chart shows whole steps.
  const shown = before.kind === 'log' ? range : onSteps(range, step);
  const startedMs = performance.now();
  const bars = fetchHistogram(state, before, barRange(range, barStep), barStep, signal);
  const { data, warnings = [] } = await fetchRange(state, shown, step, signal);
  const tookMs = performance.now() - startedMs;
  // Running the query may have taught the proxy stored names, which change the plan.
  const explanation = before.names === 'unknown' ? await fetchExplanation(state, barStep, signal) : before;
  const shared = {
    kind: 'answered',
    explanation,
    range: shown,
    tookMs,
    stats: data.stats,
    warnings,
  } as const;
  if (data.resultType === 'matrix') {
    return { ...shared, result: { kind: 'series', series: seriesOf(data.result), stepSeconds: step } };
  }
  const rows = logRows(data.result, state.direction);
  return { ...shared, result: { kind: 'logs', rows, streams: data.result.length, histogram: await bars } };
}

/** The bars of a log query; when they fail, lines are shown without them. */
async function fetchHistogram(
  state: QueryState,
  { histogram: query }: PageExplanation,
  range: TimeRange,
  step: number,
  signal: AbortSignal,
): Promise<Histogram | string> {
  if (query === undefined) return '';
  try {
    const { data } = await fetchRange({ ...state, query }, range, step, signal);
    return histogramOf(data.resultType === 'matrix' ? data.result : [], range, step);
  } catch (error) {
    return error instanceof ServerError ? error.message : 'The proxy does not answer.';
  }
}
