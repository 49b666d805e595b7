import {
  editQuery,
  failureText,
  fetchFields,
  fetchLabels,
  fetchValues,
  formatQuery,
  ServerError,
  type Change,
  type NamesScope,
} from '../api.js';
import { fixedRange, rangeOf, shiftedRange, zoomedOut, type AskedRange } from '../model/query/asked-range.js';
import { parsePast, withoutQuery, withQuery, type Past } from '../model/history.js';
import { joined, nextPage, pageSize } from '../model/paging.js';
import {
  parseHash,
  printHash,
  problemOf,
  viewOf,
  type Problem,
  type QueryState,
  type RefreshName,
  type View,
} from '../model/query-state.js';
import { parseSettings, type Settings } from '../model/settings.js';
import { nsRange, type TimeRange } from '../model/time-range.js';
import type { Names } from '../editor/completion.js';
import { answer, type Answered } from './answers.js';
import { AutoRefresh } from './auto-refresh.js';
import { keep } from './kept.js';
import { LiveTail, type LiveState } from './live-tail.js';
import { readLines } from './read-lines.js';
import { Store } from './store.js';

/** A run that ended with an error. */
export interface Failed {
  readonly kind: 'failed';
  readonly asked: QueryState;
  /** The server's text. */
  readonly text: string;
}

/** The content of the area below the query. */
export type Outcome = { readonly kind: 'none' } | Failed | Answered;

export type Tab = 'result' | 'patterns' | 'volumes' | 'plan';

/** The state of the page, except for the pipeline. */
export interface PageState {
  readonly view: View;
  readonly form: QueryState;
  /** Changes whenever the query was not typed, so that the editor takes it over. */
  readonly queryVersion: number;
  readonly problem: Problem | undefined;
  readonly outcome: Outcome;
  readonly tab: Tab;
  /** Start of the running query, by the clock of `performance`; undefined if none runs. */
  readonly runningSince: number | undefined;
  readonly isLoadingMore: boolean;
  /** The problem that prevented loading more lines. */
  readonly moreProblem: string | undefined;
  readonly live: LiveState | undefined;
  readonly settings: Settings;
  readonly past: Past;
}

const settingsKey = 'ref-proxy.settings';
const pastKey = 'ref-proxy.queries';

/** User actions on the page. Only one query runs at a time: a new run cancels the previous one. */
export class Session {
  readonly store: Store<PageState>;
  /** Called when a query has ended, since the figures of the pipeline have changed. */
  onDone: () => void = () => undefined;
  /** True if the pipeline rejects requests without a tenant. */
  needsTenant = false;
  #running: AbortController | undefined;
  /** Ends the reading of more lines. */
  #more: AbortController | undefined;
  /** The live view, which `goLive` starts. */
  readonly live = new LiveTail((live) => this.store.set({ live }));
  readonly #refresh = new AutoRefresh(() => this.refresh());

  constructor() {
    this.store = new Store<PageState>({
      view: viewOf(location.hash),
      form: parseHash(location.hash),
      queryVersion: 0,
      problem: undefined,
      outcome: { kind: 'none' },
      tab: 'result',
      runningSince: undefined,
      isLoadingMore: false,
      moreProblem: undefined,
      live: undefined,
      settings: parseSettings(localStorage.getItem(settingsKey)),
      past: parsePast(localStorage.getItem(pastKey)),
    });
    this.#applyTheme();
  }

  /** Follows the page's URL, and runs the query in it. */
  start(): () => void {
    const follow = (): void => {
      const form = parseHash(location.hash);
      this.store.set({ view: viewOf(location.hash) });
      this.edit(form);
      this.#refresh.every(form.refresh);
      if (form.query !== '') this.#ask(form);
    };
    if (this.store.state.form.query !== '') this.#ask(this.store.state.form);
    this.#refresh.every(this.store.state.form.refresh);
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }

  show(view: View): void {
    if (view === this.store.state.view) return;
    this.store.set({ view });
    this.#remember();
  }

  edit(part: Partial<QueryState>): void {
    const { queryVersion } = this.store.state;
    this.#change(part, part.query === undefined ? queryVersion : queryVersion + 1);
  }

  /** Takes over a text typed into the editor. */
  type(query: string): void {
    this.#change({ query }, this.store.state.queryVersion);
  }

  /** Runs the query of the fields, with some of them changed. */
  run(part: Partial<QueryState> = {}): void {
    this.edit(part);
    this.store.set({ view: 'query', tab: 'result' });
    this.#remember();
    this.#ask(this.store.state.form);
  }

  cancel(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.store.set({ runningSince: undefined });
  }

  zoom(range: TimeRange): void {
    this.run(fixedRange(range));
  }

  /** Takes over a range, and runs the query if there is one. */
  setRange(range: AskedRange): void {
    if (this.store.state.form.query.trim() === '') this.edit(range);
    else this.run(range);
  }

  /** Moves the range by half its length. */
  shift(direction: -1 | 1): void {
    const range = this.#range(this.store.state.form);
    if (typeof range !== 'string') this.setRange(fixedRange(shiftedRange(range, direction)));
  }

  zoomOut(): void {
    const { form, settings } = this.store.state;
    this.setRange(zoomedOut(form, Date.now(), settings.zone));
  }

  setRefresh(refresh: RefreshName): void {
    this.edit({ refresh });
    this.#remember();
    this.#refresh.every(refresh);
  }

  /** Runs the query of the shown result again, unless one runs. */
  refresh(): void {
    const { outcome, runningSince, live, view } = this.store.state;
    if (runningSince !== undefined || live !== undefined || view !== 'query' || outcome.kind === 'none')
      return;
    const { range, from, to } = this.store.state.form;
    this.#ask({ ...outcome.asked, range, from, to });
  }

  showTab(tab: Tab): void {
    this.store.set({ tab });
  }

  /** Changes the query on its tree, and runs it. */
  async change(change: Change): Promise<void> {
    try {
      const { outcome, form, live } = this.store.state;
      // Changes apply to the query of the shown result, not to later input.
      const query = live?.query ?? (outcome.kind === 'none' ? form.query : outcome.asked.query);
      this.run({ query: await editQuery(query, change) });
    } catch (error) {
      this.#fail(failureText(error));
    }
  }

  /** Makes the selector keep these values of a label, without running the query. */
  async choose(name: string, value: readonly string[]): Promise<void> {
    const { query } = this.store.state.form;
    try {
      this.edit({ query: await editQuery(query, { change: 'choose', name, value, of: 'stream' }) });
    } catch (error) {
      this.store.set({ problem: { field: 'query', text: failureText(error) } });
    }
  }

  async format(): Promise<void> {
    const { query, tenant } = this.store.state.form;
    if (query.trim() === '') {
      this.store.set({ problem: { field: 'query', text: 'There is no query to format yet.' } });
      return;
    }
    try {
      this.edit({ query: await formatQuery(query, tenant) });
    } catch (error) {
      this.store.set({ problem: { field: 'query', text: failureText(error) } });
    }
  }

  /** Loads the lines after the last one. */
  async more(): Promise<void> {
    const { outcome, isLoadingMore } = this.store.state;
    if (outcome.kind !== 'answered' || outcome.result.kind !== 'logs' || isLoadingMore) return;
    const { asked, range, result } = outcome;
    const limit = pageSize(result.rows.length, asked.limit);
    const next = nextPage(result.rows, nsRange(range), limit, asked.direction);
    if (next === undefined || result.isReading) return;
    this.store.set({ isLoadingMore: true, moreProblem: undefined });
    this.#more = new AbortController();
    const { signal } = this.#more;
    try {
      const page = await readLines(
        { ...asked, limit: next.limit, range: next.range },
        AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
      );
      if (this.store.state.outcome !== outcome) return;
      const rows = joined(result.rows, page.rows, asked.direction);
      const isLimited = page.rows.length >= next.limit;
      this.store.set({
        outcome: { ...outcome, result: { ...result, rows, isLimited } },
        moreProblem: next.skipsTies
          ? 'Some lines of one instant may be left out: it has more than can be asked for.'
          : undefined,
      });
    } catch (error) {
      if (!signal.aborted) this.store.set({ moreProblem: failureText(error) });
    } finally {
      this.store.set({ isLoadingMore: false });
    }
  }

  /** Follows new lines of the query. */
  goLive(): void {
    const { form } = this.store.state;
    const problem = problemOf(form, {}, this.needsTenant);
    this.store.set({ problem, view: 'query', tab: 'result' });
    if (problem !== undefined) return;
    this.cancel();
    this.#keepInPast(form);
    this.live.start(form);
  }

  set(settings: Partial<Settings>): void {
    const next = { ...this.store.state.settings, ...settings };
    this.store.set({ settings: next });
    keep(settingsKey, next);
    this.#applyTheme();
  }

  forget(query?: string): void {
    const past = withoutQuery(this.store.state.past, this.store.state.form.tenant, query);
    this.store.set({ past });
    keep(pastKey, past);
  }

  /** Names and values for the time range and tenant in the fields. */
  readonly names: Names = {
    labels: (selector) => fetchLabels(selector, this.scope()),
    values: (name, selector) => fetchValues(name, selector, this.scope()),
    fields: (logQuery) => (logQuery === '' ? Promise.resolve([]) : fetchFields(logQuery, this.scope())),
  };

  scope(): NamesScope {
    const { form } = this.store.state;
    const range = this.#range(form);
    const usual = rangeOf({ range: '1h', from: '', to: '' }, Date.now());
    const asked = typeof range === 'string' ? usual : range;
    return {
      tenant: form.tenant,
      range: nsRange(typeof asked === 'string' ? { startMs: 0, endMs: Date.now() } : asked),
    };
  }

  #change(part: Partial<QueryState>, queryVersion: number): void {
    const { form, problem } = this.store.state;
    const isFixed = problem !== undefined && problem.field in part;
    const cleared = isFixed ? { problem: undefined } : {};
    this.store.set({ form: { ...form, ...part }, queryVersion, ...cleared });
  }

  #ask(state: QueryState): void {
    this.live.end();
    const range = this.#range(state);
    const problem = problemOf(state, range, this.needsTenant);
    this.#running?.abort();
    this.#more?.abort();
    if (problem !== undefined || typeof range === 'string') {
      // An old result would look like that of the new query.
      this.store.set({ problem, outcome: { kind: 'none' }, runningSince: undefined });
      return;
    }
    const controller = new AbortController();
    this.#running = controller;
    this.store.set({ problem: undefined, runningSince: performance.now(), moreProblem: undefined });
    const finish = (part: Partial<PageState>): void => {
      if (this.#running !== controller) return;
      this.#running = undefined;
      this.store.set({ ...part, runningSince: undefined });
      this.onDone();
    };
    const show = (outcome: Outcome): void => {
      if (this.#running === controller) this.store.set({ outcome });
    };
    answer(state, range, controller.signal, show).then(
      (outcome) => {
        finish({ outcome });
        this.#keepInPast(state);
      },
      (error: unknown) => finish(this.#failureOf(error, state)),
    );
  }

  #range(asked: AskedRange): TimeRange | string {
    return rangeOf(asked, Date.now(), this.store.state.settings.zone);
  }

  #failureOf(error: unknown, asked: QueryState): Partial<PageState> {
    const text = failureText(error);
    if (error instanceof ServerError && error.status === 401)
      return {
        outcome: { kind: 'none' },
        problem: { field: 'tenant', text: `${text}. Fill in the field Tenant.` },
      };
    return { outcome: { kind: 'failed', asked, text } };
  }

  #fail(text: string): void {
    this.store.set({ outcome: { kind: 'failed', asked: this.store.state.form, text } });
  }

  #keepInPast({ tenant, query }: QueryState): void {
    const past = withQuery(this.store.state.past, tenant, query, Date.now());
    this.store.set({ past });
    keep(pastKey, past);
  }

  #remember(): void {
    const { form, view } = this.store.state;
    const hash = `#${printHash(form, view)}`;
    if (hash !== location.hash) history.pushState(null, '', hash);
  }

  #applyTheme(): void {
    const { theme } = this.store.state.settings;
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }
}

/** The session of this page. */
export const session = new Session();
