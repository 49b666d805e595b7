import { addFigures, noFigures, type Figures } from './figures.js';
import type {
  Cost,
  ExplainedPart,
  ExplainedRead,
  PageExplanation,
  RunReport,
  TriedStrategy,
} from './wire.js';

/** The fate of a strategy: `planned` before a run, `excluded` by the plan itself. */
export type CandidateState = 'ran' | 'failed' | 'gave up' | 'not needed' | 'planned' | 'excluded';

/** A strategy of the engine for a range aggregation, with its reason and its cost. */
export interface Candidate {
  readonly strategy: string;
  readonly state: CandidateState;
  readonly text: string;
  readonly estimated: Figures | undefined;
  readonly measured: Figures | undefined;
}

/** The way of the rows of one log query within a query. */
export interface Lane {
  readonly read: ExplainedRead;
  /** The parts that VictoriaLogs evaluates or narrows down. */
  readonly backend: readonly ExplainedPart[];
  /** The parts that need the proxy. */
  readonly proxy: readonly ExplainedPart[];
  readonly candidates: readonly Candidate[];
  readonly estimated: Figures | undefined;
  /** Undefined before a run. */
  readonly measured: Figures | undefined;
}

/** The way of a query from the backend to its answer. */
export interface Flow {
  readonly lanes: readonly Lane[];
  /** Calls of the run that belong to no lane, such as those that learn names; undefined if there are none. */
  readonly others: Figures | undefined;
  /** The whole run: its time is that of the answer, not of its calls. */
  readonly total: Figures | undefined;
}

/** The flow of an explained query, with the figures of a run; `limit` is the number of lines that it may answer. */
export function flowOf(
  { reads, cost, kind }: Pick<PageExplanation, 'reads' | 'cost' | 'kind'>,
  run: RunReport | undefined,
  limit: number | undefined,
): Flow {
  const lanes = reads.map((read, leaf): Lane => {
    const candidates = candidatesOf(read, leaf, run);
    return {
      read,
      backend: read.parts.filter(({ verdict }) => verdict !== 'none'),
      proxy: read.parts.filter(({ verdict }) => verdict !== 'exact'),
      candidates,
      estimated:
        kind === 'log'
          ? ofLines(cost, limit)
          : (candidates.find(({ state }) => state === 'ran') ?? candidates[0])?.estimated,
      measured: run === undefined ? undefined : measuredIn(run, kind, leaf),
    };
  });
  if (run === undefined) return { lanes, others: undefined, total: undefined };
  const all = callsIn(run);
  const known = addFigures(lanes.map(({ measured = noFigures }) => measured));
  const calls = Math.max(0, (all.calls ?? 0) - (known.calls ?? 0));
  const others: Figures = {
    calls,
    rows: Math.max(0, (all.rows ?? 0) - (known.rows ?? 0)),
    bytes: Math.max(0, (all.bytes ?? 0) - (known.bytes ?? 0)),
    ms: undefined,
  };
  return { lanes, others: calls > 0 ? others : undefined, total: { ...all, ms: run.durationMs } };
}

function ofLines(cost: PageExplanation['cost'], limit: number | undefined): Figures | undefined {
  if (cost !== 'page' || limit === undefined) return undefined;
  return { calls: undefined, rows: limit, bytes: undefined, ms: undefined };
}

/** All calls of a run. Parallel ones may add up to more time than it took. */
function callsIn({ calls }: RunReport): Figures {
  return addFigures(
    calls.map(({ calls: count, rows, bytes, durationMs }) => ({ calls: count, rows, bytes, ms: durationMs })),
  );
}

function measuredIn(run: RunReport, kind: PageExplanation['kind'], leaf: number): Figures {
  if (kind === 'log') return callsIn(run);
  return addFigures(run.strategies.filter((one) => one.leaf === leaf).map(took));
}

function took({ took: sent, durationMs }: TriedStrategy): Figures {
  return { calls: sent?.calls ?? 0, rows: sent?.rows ?? 0, bytes: sent?.bytes ?? 0, ms: durationMs };
}

function estimate(cost: Cost, ms?: number): Figures {
  return { calls: cost.calls, rows: cost.sentRows, bytes: cost.sentBytes, ms };
}

/** The candidates of a read: those that a run has tried, in its order, then the others. */
function candidatesOf({ strategies = [] }: ExplainedRead, leaf: number, run: RunReport | undefined) {
  const tried = run?.strategies.filter((one) => one.leaf === leaf) ?? [];
  // A long range is read in several windows, each with attempts of its own.
  const attempts = new Map<string, TriedStrategy[]>();
  for (const one of tried) {
    const before = attempts.get(one.strategy);
    if (before === undefined) attempts.set(one.strategy, [one]);
    else before.push(one);
  }
  const others = new Map(tried.flatMap((one) => (one.others ?? []).map((other) => [other.strategy, other])));
  const rest = strategies
    .filter(({ strategy }) => !attempts.has(strategy))
    .map(({ strategy, declined, cost, text }): Candidate => {
      const known = others.get(strategy)?.estimate ?? cost;
      return {
        strategy,
        state: declined !== undefined ? 'excluded' : tried.length > 0 ? 'not needed' : 'planned',
        text,
        estimated: known === undefined ? undefined : estimate(known),
        measured: undefined,
      };
    });
  return [...[...attempts.values()].flatMap(attempted), ...rest];
}

function attempted(attempts: readonly TriedStrategy[]): readonly Candidate[] {
  const last = attempts.find(({ outcome }) => outcome === 'ran') ?? attempts.at(-1);
  if (last === undefined) return [];
  const estimates = attempts.flatMap(({ estimate: cost, estimatedMs }) =>
    cost === undefined ? [] : [estimate(cost, estimatedMs)],
  );
  return [
    {
      strategy: last.strategy,
      state: last.outcome === 'ran' || last.outcome === 'failed' ? last.outcome : 'gave up',
      text: last.text,
      estimated: estimates.length === 0 ? undefined : addFigures(estimates),
      measured: addFigures(attempts.map(took)),
    },
  ];
}
