import type { StrategyRecord, Trace, UpstreamCall } from '../../../base/trace.js';
import { declineReasons, millisecondsOf, outcomeText } from '../../metric/cost.js';
import type { ExplainedRead } from './explain.js';
import { costText } from './strategies.js';

/** A report on one execution of a query. */
export interface RunReport {
  readonly status: number;
  /** A short summary of the answer, or the text of the error. */
  readonly answer: string;
  readonly durationMs: number;
  /** Calls to the backend. Parallel calls can add up to more time than the query took. */
  readonly calls: readonly CallSum[];
  /** Attempts to read the range aggregations of a metric query, in order. */
  readonly strategies: readonly TriedStrategy[];
}

/** Calls of one type, made on behalf of one strategy. */
export interface CallSum extends Pick<UpstreamCall, 'type' | 'rows' | 'bytes' | 'durationMs'> {
  /** Undefined for calls that are not made for a range aggregation: calls of log queries, and calls to learn names. */
  readonly strategy: string | undefined;
  readonly calls: number;
  /** Number of calls without an answer or with a status of 400 and above. */
  readonly errors: number;
}

export interface TriedStrategy extends StrategyRecord {
  /** An explanation of the outcome. */
  readonly text: string;
  /** The duration that its estimate amounts to; undefined if a part of that is unknown. */
  readonly estimatedMs?: number;
}

/** Summarizes a trace. */
export function reportRun(
  { upstreamCalls, strategies }: Trace,
  { status, answer, durationMs }: Pick<RunReport, 'status' | 'answer' | 'durationMs'>,
): RunReport {
  const sums = new Map<string, CallSum>();
  for (const { strategy, type, status: got, rows, bytes, durationMs: ms } of upstreamCalls) {
    const key = `${strategy ?? ''} ${type}`;
    const before = sums.get(key) ?? { strategy, type, calls: 0, errors: 0, rows: 0, bytes: 0, durationMs: 0 };
    sums.set(key, {
      ...before,
      calls: before.calls + 1,
      errors: before.errors + (got === 0 || got >= 400 ? 1 : 0),
      rows: before.rows + rows,
      bytes: before.bytes + bytes,
      durationMs: rounded(before.durationMs + ms),
    });
  }
  const tried = strategies
    .map((record) => {
      const ms = record.estimate === undefined ? undefined : millisecondsOf(record.estimate);
      return {
        ...record,
        durationMs: rounded(record.durationMs),
        text: outcomeText(record.outcome),
        ...(ms === undefined ? {} : { estimatedMs: rounded(ms) }),
      };
    })
    .toSorted((a, b) => a.leaf - b.leaf);
  return { status, answer, durationMs: rounded(durationMs), calls: [...sums.values()], strategies: tried };
}

/** Prints a report as text, with the reads of the query's explanation. */
export function printRun(
  { status, answer, durationMs, calls, strategies }: RunReport,
  reads: readonly ExplainedRead[],
): string {
  const lines = [
    `ran     ${status} in ${durationMs} ms: ${answer}`,
    `calls   ${calls.length === 0 ? 'none' : figures(calls)}`,
    ...[...new Set(calls.map(({ strategy }) => strategy))].flatMap((strategy) => {
      const own = calls.filter((sum) => sum.strategy === strategy);
      return [`  ${strategy ?? 'no strategy'}: ${figures(own)}`, ...own.map((sum) => `      ${typed(sum)}`)];
    }),
  ];
  for (const leaf of new Set(strategies.map((tried) => tried.leaf))) {
    lines.push(`read    ${reads[leaf]?.logql ?? ''}`);
    lines.push(...strategies.filter((tried) => tried.leaf === leaf).flatMap(printTried));
  }
  return `${lines.join('\n')}\n`;
}

function printTried({
  strategy,
  outcome,
  durationMs,
  text,
  estimate,
  took,
  others = [],
}: TriedStrategy): readonly string[] {
  const told = isReason(outcome)
    ? `  ${strategy}: declined after ${durationMs} ms (${outcome}): ${text}`
    : `  ${strategy}: ${outcome} in ${durationMs} ms`;
  const estimated = estimate === undefined ? [] : [`      estimated: ${costText(estimate)}`];
  return [
    told,
    ...estimated,
    ...(took === undefined ? [] : [`      took:      ${figures([{ ...took, durationMs }])}`]),
    ...others.map((other) => `  ${other.strategy}: not needed, estimated: ${costText(other.estimate)}`),
  ];
}

function isReason(outcome: string): boolean {
  return Object.hasOwn(declineReasons, outcome);
}

function typed(sum: CallSum): string {
  const errors = sum.errors === 0 ? '' : `, ${sum.errors} failed`;
  return `${sum.type}: ${figures([sum])}${errors}`;
}

function figures(sums: readonly Pick<CallSum, 'calls' | 'rows' | 'bytes' | 'durationMs'>[]): string {
  const sum = (of: 'calls' | 'rows' | 'bytes' | 'durationMs'): number =>
    sums.reduce((all, each) => all + each[of], 0);
  const calls = sum('calls');
  return `${calls} ${calls === 1 ? 'call' : 'calls'}, ${sum('rows')} rows, ${sum('bytes')} bytes, ${rounded(sum('durationMs'))} ms`;
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
