import { failureText, fetchRange } from '../api.js';
import { logRows, type LogRow } from '../model/log-rows.js';
import { joined } from '../model/paging.js';
import type { QueryState } from '../model/query-state.js';

export interface LiveState {
  readonly query: string;
  readonly isPaused: boolean;
  /** The lines, newest first. */
  readonly rows: readonly LogRow[];
  /** Number of lines since the start, including those no longer shown. */
  readonly count: number;
  /** Lines per second over the last ten seconds. */
  readonly perSecond: number;
  /** The current problem. */
  readonly problem: string | undefined;
  /** True if more lines arrived at once than can be shown. */
  readonly isOverrun: boolean;
}

const everyMs = 1_000;
/** Time that is read again, because lines may arrive late, and lines of one timestamp in parts. */
const overlapMs = 5_000;
const maxAtOnce = 500;
const maxShown = 1_000;
/** Length of the history shown at the start. */
const historyMs = 60_000;
const withinMs = 20_000;
/** Time over which the rate is taken. */
const rateMs = 10_000;

/** Polls for new lines of a query every second. It uses the query API, so that tenants, tokens and limits apply as well. */
export class LiveTail {
  readonly #notify: (state: LiveState | undefined) => void;
  #state: LiveState | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #controller: AbortController | undefined;
  #asked: QueryState | undefined;
  #seenMs = 0;
  /** The latest polls with the number of lines that they brought; polls of the last ten seconds only. */
  #polls: readonly (readonly [atMs: number, lines: number])[] = [];

  constructor(tell: (state: LiveState | undefined) => void) {
    this.#notify = tell;
  }

  start(asked: QueryState): void {
    this.end();
    this.#asked = asked;
    this.#seenMs = Date.now() - historyMs;
    this.#polls = [];
    this.#set({
      query: asked.query,
      isPaused: false,
      rows: [],
      count: 0,
      perSecond: 0,
      problem: undefined,
      isOverrun: false,
    });
    void this.#look();
  }

  pause(): void {
    this.#stop();
    if (this.#state !== undefined) this.#set({ ...this.#state, isPaused: true });
  }

  resume(): void {
    if (this.#state === undefined) return;
    this.#set({ ...this.#state, isPaused: false });
    void this.#look();
  }

  end(): void {
    this.#stop();
    if (this.#state === undefined) return;
    this.#state = undefined;
    this.#notify(undefined);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#controller?.abort();
    this.#controller = undefined;
  }

  async #look(): Promise<void> {
    const asked = this.#asked;
    if (asked === undefined) return;
    const controller = new AbortController();
    this.#controller = controller;
    const endMs = Date.now();
    try {
      const range = {
        startNs: BigInt(this.#seenMs - overlapMs) * 1_000_000n,
        endNs: BigInt(endMs) * 1_000_000n,
      };
      const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(withinMs)]);
      const { data } = await fetchRange({ ...asked, range, limit: maxAtOnce, direction: 'backward' }, signal);
      if (data.resultType !== 'streams') {
        this.#trouble('A live view is of lines: this query counts them.');
        return;
      }
      if (this.#controller === controller) this.#take(logRows(data.result, 'backward'), endMs);
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#trouble(failureText(error));
    }
    if (this.#controller === controller) this.#timer = setTimeout(() => void this.#look(), everyMs);
  }

  #take(found: readonly LogRow[], endMs: number): void {
    if (this.#state === undefined) return;
    this.#seenMs = endMs;
    const { rows, count } = this.#state;
    const all = joined(rows, found, 'backward');
    const fresh = all.length - rows.length;
    // The first poll brings the history, which says nothing about the rate.
    const isFirst = this.#polls.length === 0;
    this.#polls = [
      ...this.#polls.filter(([atMs]) => atMs > endMs - rateMs),
      [endMs, isFirst ? 0 : fresh] as const,
    ];
    const seconds = Math.max(1, (endMs - (this.#polls[0]?.[0] ?? endMs)) / 1_000);
    const perSecond = this.#polls.slice(1).reduce((sum, [, lines]) => sum + lines, 0) / seconds;
    // Only updated if there is something new.
    if (fresh === 0 && this.#state.problem === undefined && perSecond === this.#state.perSecond) return;
    this.#set({
      ...this.#state,
      rows: all.slice(0, maxShown),
      count: count + fresh,
      perSecond,
      problem: undefined,
      isOverrun: fresh >= maxAtOnce,
    });
  }

  #trouble(problem: string): void {
    if (this.#state !== undefined) this.#set({ ...this.#state, problem });
  }

  #set(state: LiveState): void {
    this.#state = state;
    this.#notify(state);
  }
}
