import type { Histogram } from '../model/histogram.js';
import { LiveCounts } from '../model/lines/live-counts.js';
import { numbered, sorted, type LogRow } from '../model/log-rows.js';
import { joined } from '../model/paging.js';
import type { QueryState } from '../model/query-state.js';
import { followTail, maxAtOnce, overlapMs, pollLines, type EndSource } from './live-sources.js';

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
/** Waits before a lost WebSocket is opened again; after the last one the page polls. */
const waitsMs = [1_000, 2_000, 4_000, 8_000, 15_000];
/** Time after which an open WebSocket counts as a success, so that the waits start again. */
const steadyMs = 10_000;
/** Time within which incoming lines are shown together. */
const togetherMs = 200;
const tickMs = 1_000;

/**
 * Follows new lines of a query: over a WebSocket, which is opened again when it is lost, or by polling. While they are paused or read,
 * the shown lines are held still, and newer ones wait.
 */
export class LiveTail {
  readonly #notify: (state: LiveState | undefined) => void;
  #state: LiveState | undefined;
  #endSource: EndSource = () => undefined;
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
    this.#endSource();
    this.#endSource = () => undefined;
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
    this.#endSource = followTail(
      asked,
      startMs,
      (...lines) => this.#take(...lines),
      () => this.#change({ way: 'tail', problem: undefined }),
      (openMs) => this.#lost(asked, startMs, openMs),
    );
  }

  /** Opens a lost WebSocket again after a while; polls if it could never be opened, or not for long. */
  #lost(asked: QueryState, startMs: number, openMs: number | undefined): void {
    if (openMs !== undefined && openMs > steadyMs) this.#losses = 0;
    const waitMs = this.#state?.way === 'opening' ? undefined : waitsMs[this.#losses];
    this.#join();
    const newest = this.#latest[0];
    const nextMs = newest === undefined ? startMs : Math.floor(newest.ms);
    if (waitMs === undefined) {
      this.#change({ way: 'polls' });
      this.#endSource = pollLines(
        asked,
        nextMs,
        (...lines) => this.#take(...lines),
        (problem) => this.#change({ problem }),
      );
      return;
    }
    this.#losses += 1;
    this.#change({ way: 'lost' });
    this.#timer = setTimeout(() => this.#open(asked, nextMs - overlapMs), waitMs);
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
