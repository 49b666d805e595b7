import { failureText, fetchExplanation, fetchRange, fetchRun, newRunName } from '../api.js';
import { formatCounted } from '../model/format.js';
import { nsRange, stepOf } from '../model/time-range.js';
import type { AskedQuery, PageExplanation, RunReport, WireData } from '../model/wire.js';
import type { Answered } from './answers.js';
import { session } from './session.js';
import { Store } from './store.js';

/** The plan of a query without its answer. */
export interface QueryPlan {
  readonly query: string;
  readonly explanation: PageExplanation;
  /** The report of a run; undefined if the server does not know it. */
  readonly report: RunReport | undefined;
  /** The size of its answer: `100 lines`. */
  readonly answer: string;
}

const maxPoints = 240;

/** Runs another query over the range of an answer, only for its plan and its figures. */
export async function planBeside(
  query: string,
  { asked, range, result }: Answered,
  signal: AbortSignal,
): Promise<QueryPlan> {
  const step = result.kind === 'series' ? result.stepSeconds : stepOf(range, maxPoints);
  const state = { ...asked, query };
  const before = await fetchExplanation(state, step, signal);
  const run = newRunName();
  const { data } = await fetchRange({ ...state, range: nsRange(range), step, run }, signal);
  const [report, explanation] = await Promise.all([
    fetchRun(run, signal),
    // Running the query may have taught the proxy stored names, which change the plan.
    before.names === 'unknown' ? fetchExplanation(state, step, signal) : before,
  ]);
  return { query, explanation, report, answer: sizeOf(data) };
}

function sizeOf(data: WireData): string {
  if (data.resultType === 'matrix') return formatCounted(data.result.length, 'series', 'series');
  return formatCounted(
    data.result.reduce((sum, { values }) => sum + values.length, 0),
    'line',
  );
}

/** The plan of a query that a client has asked, with the figures of its slowest run. */
export interface OpenedPlan {
  readonly asked: AskedQuery;
  /** The explanation, or the server's error text; undefined while loading. */
  readonly explanation: PageExplanation | string | undefined;
}

interface PlanState {
  readonly opened: OpenedPlan | undefined;
}

/** The plan that is shown instead of an answer, until the next run. */
class OpenedPlans {
  readonly store = new Store<PlanState>({ opened: undefined });
  #loading: AbortController | undefined;

  constructor() {
    session.store.subscribe(() => {
      const { runningSince, live } = session.store.state;
      if (runningSince !== undefined || live !== undefined) this.close();
    });
  }

  /** Shows the plan of a query in the query view, without running it. */
  open(asked: AskedQuery): void {
    this.#loading?.abort();
    const controller = new AbortController();
    this.#loading = controller;
    session.cancel();
    session.live.end();
    session.edit({ query: asked.query });
    session.show('query');
    this.store.set({ opened: { asked, explanation: undefined } });
    const show = (explanation: PageExplanation | string): void => {
      if (this.#loading === controller) this.store.set({ opened: { asked, explanation } });
    };
    fetchExplanation(
      { query: asked.query, tenant: session.store.state.form.tenant },
      60,
      controller.signal,
    ).then(show, (error: unknown) => show(failureText(error)));
  }

  close(): void {
    if (this.store.state.opened === undefined) return;
    this.#loading?.abort();
    this.#loading = undefined;
    this.store.set({ opened: undefined });
  }
}

/** The plan opened from the list of queries. */
export const openedPlans = new OpenedPlans();
