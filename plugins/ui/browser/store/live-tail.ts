import type { Histogram } from '../model/histogram.js';
import { LiveCounts } from '../model/lines/live-counts.js';
import { numbered, sorted, type LogRow } from '../model/log-rows.js';
import { joined } from '../model/paging.js';
import type { QueryState } from '../model/query-state.js';
import {
  followTail,
  maxAtOnce,
  overlapMs,
  pollLines,
  type EndSource,
  type TakeLines,
} from './live-sources.js';

export interface LiveState {
  readonly query: string;
  readonly isPaused: boolean;
  /** True while somebody has scrolled away from the newest lines, which holds the shown ones still. */
  readonly isReading: boolean;
  /** The shown lines, newest first. */
  readonly rows: readonly LogRow[];
  /** Number of lines that came while the shown ones are held still. */
  readonly waiting: number;
  /** Number of lines since the start, including those no longer shown. */
  readonly count: number;
  /** Lines per second over the last ten seconds. */
  readonly perSecond: number;
  readonly histogram: Histogram;
  /** The source of lines: a WebSocket, polling where there is none, or nothing before a lost WebSocket is open again. */
  readonly way: 'opening' | 'tail' | 'lost' | 'polls';
  /** The current problem. */
  readonly problem: string | undefined;
  /** True if more lines arrived at once than can be shown. */
  readonly isOverrun: boolean;
  /** Number of lines that the server has dropped. */
  readonly dropped: number;
}

const maxShown = 1_000;
/** Length of the history shown at the start. */
const historyMs = 60_000;
/** Waits before a lost WebSocket is opened again; after the last one the page polls, and tries again at that interval. */
const waitsMs = [1_000, 2_000, 4_000, 8_000, 15_000];
/** Time after which an open WebSocket counts as a success, so that the waits start again. */
const steadyMs = 10_000;
/** Time within which incoming lines are shown together. */
const togetherMs = 200;
const tickMs = 1_000;

function nothing(): void {}

/**
 * Follows new lines of a query: over a WebSocket, which is opened again when it is lost, or by polling until it sends lines. While they are
 * paused or read, the shown lines are held still, and newer ones wait.
 */
export class LiveTail {
  readonly #notify: (state: LiveState | undefined) => void;
  #state: LiveState | undefined;
  #endTail: EndSource = nothing;
  #endPolls: EndSource = nothing;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ticks: ReturnType<typeof setInterval> | undefined;
  #showing: ReturnType<typeof setTimeout> | undefined;
  #counts = new LiveCounts(0);
  /** Incoming lines that are not joined yet, at most as many as are shown. */
  #incoming: LogRow[] = [];
  /** The latest lines, newest first. */
  #latest: readonly LogRow[] = [];
  #count = 0;
  /** Number of lines when the shown ones were the latest. */
  #shownCount = 0;
  #isReading = false;
  #losses = 0;

  constructor(tell: (state: LiveState | undefined) => void) {
    this.#notify = tell;
  }

  start(asked: QueryState): void {
    this.end();
    const nowMs = Date.now();
    this.#counts = new LiveCounts(nowMs);
    this.#set({
      query: asked.query,
      isPaused: false,
      isReading: false,
      rows: [],
      waiting: 0,
      count: 0,
      perSecond: 0,
      histogram: this.#counts.histogram(nowMs),
      way: 'opening',
      problem: undefined,
      isOverrun: false,
      dropped: 0,
    });
    this.#ticks = setInterval(() => this.#show(), tickMs);
    this.#open(asked, nowMs - historyMs);
  }

  /** Shows what has come until now, and holds it still; lines go on coming in. */
  pause(): void {
    this.#show();
    this.#change({ isPaused: true });
  }

  resume(): void {
    this.#change({ isPaused: false });
    this.#show();
  }

  /** Holds the lines still while somebody has scrolled away from the newest ones. */
  hold(isReading: boolean): void {
    if (isReading === this.#isReading) return;
    this.#isReading = isReading;
    this.#show();
  }

  end(): void {
    this.#endTail();
    this.#endPolls();
    [this.#endTail, this.#endPolls] = [nothing, nothing];
    clearTimeout(this.#timer);
    clearTimeout(this.#showing);
    clearInterval(this.#ticks);
    this.#showing = undefined;
    [this.#incoming, this.#latest, this.#isReading] = [[], [], false];
    [this.#count, this.#shownCount, this.#losses] = [0, 0, 0];
    if (this.#state === undefined) return;
    this.#state = undefined;
    this.#notify(undefined);
  }

  #open(asked: QueryState, startMs: number): void {
    this.#endTail = followTail(
      asked,
      startMs,
      (...lines) => this.#hear(...lines),
      () => {
        if (this.#state?.way !== 'polls') this.#change({ way: 'tail', problem: undefined });
      },
      (openMs) => this.#lost(asked, startMs, openMs),
    );
  }

  /** Takes lines of the WebSocket, which replaces polling. */
  #hear(...lines: Parameters<TakeLines>): void {
    if (this.#state?.way === 'polls') {
      this.#endPolls();
      this.#change({ way: 'tail', problem: undefined });
    }
    this.#take(...lines);
  }

  /** The time from which lines may be missing. */
  #nextMs(startMs: number): number {
    this.#join();
    const newest = this.#latest[0];
    return newest === undefined ? startMs : Math.floor(newest.ms);
  }

  /** Opens a lost WebSocket again after a while; polls if it could never be opened, or not for long. */
  #lost(asked: QueryState, startMs: number, openMs: number | undefined): void {
    if (openMs !== undefined && openMs > steadyMs) this.#losses = 0;
    const way = this.#state?.way;
    const waitMs = way === 'opening' || way === 'polls' ? undefined : waitsMs[this.#losses];
    const nextMs = this.#nextMs(startMs);
    this.#losses += 1;
    this.#change({ way: waitMs === undefined ? 'polls' : 'lost' });
    if (waitMs === undefined && way !== 'polls')
      this.#endPolls = pollLines(
        asked,
        nextMs,
        (...lines) => this.#take(...lines),
        (problem, isLast) => {
          this.#change({ problem });
          if (isLast) clearTimeout(this.#timer);
        },
      );
    this.#timer = setTimeout(
      () => this.#open(asked, this.#nextMs(startMs) - overlapMs),
      waitMs ?? waitsMs.at(-1),
    );
  }

  #take(rows: readonly LogRow[], isHistory: boolean, dropped: number): void {
    if (this.#state === undefined) return;
    if (dropped > 0) this.#change({ dropped: this.#state.dropped + dropped });
    if (!isHistory && this.#state.way === 'tail') {
      this.#incoming.push(...rows);
      if (this.#incoming.length >= maxShown) this.#join();
    } else {
      // An answer with a limit may lack lines.
      this.#join();
      const isFirst = this.#latest.length === 0;
      const fresh = this.#add(rows, isHistory);
      this.#change({ problem: undefined, isOverrun: !isFirst && fresh >= maxAtOnce });
    }
    this.#showing ??= setTimeout(() => this.#show(), togetherMs);
  }

  /** Joins the incoming lines with the latest ones. */
  #join(): void {
    const rows = this.#incoming;
    this.#incoming = [];
    if (rows.length > 0) this.#add(numbered(sorted(rows, 'backward')), false);
  }

  /** Adds lines, each once; returns the number of those that were not there. */
  #add(rows: readonly LogRow[], isHistory: boolean): number {
    const all = joined(this.#latest, rows, 'backward');
    const known = new Set(this.#latest);
    const fresh = all.filter((row) => !known.has(row));
    this.#latest = all.slice(0, maxShown);
    this.#counts.add(fresh, Date.now(), isHistory);
    this.#count += fresh.length;
    return fresh.length;
  }

  /** Shows what has come, unless the lines are held still. */
  #show(): void {
    clearTimeout(this.#showing);
    this.#showing = undefined;
    const state = this.#state;
    if (state === undefined) return;
    this.#join();
    const nowMs = Date.now();
    const isHeld = state.isPaused || this.#isReading;
    if (!isHeld) this.#shownCount = this.#count;
    const next = {
      rows: isHeld ? state.rows : this.#latest,
      waiting: this.#count - this.#shownCount,
      count: this.#count,
      perSecond: this.#counts.perSecond(nowMs),
      isReading: this.#isReading,
    };
    const endMs = state.histogram.bars.at(-1)?.endMs ?? 0;
    const isSame = Object.entries(next).every(([name, value]) => value === state[name as keyof LiveState]);
    // Only updated if there is something new, or a bar has ended.
    if (isSame && nowMs <= endMs) return;
    this.#change({ ...next, histogram: this.#counts.histogram(nowMs) });
  }

  #change(part: Partial<LiveState>): void {
    if (this.#state !== undefined) this.#set({ ...this.#state, ...part });
  }

  #set(state: LiveState): void {
    this.#state = state;
    this.#notify(state);
  }
}
