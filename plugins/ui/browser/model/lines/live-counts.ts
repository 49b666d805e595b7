import { barsOf, type Histogram } from '../histogram.js';
import type { Level } from '../levels.js';
import type { LogRow } from '../log-rows.js';
import type { TimeRange } from '../time-range.js';

const stepSeconds = 5;
const stepMs = stepSeconds * 1_000;
/** Number of bars: those of the last four minutes. */
const maxBars = 48;
/** Number of seconds over which the rate is taken. */
const rateSeconds = 10;

/** Counts lines as they come in, whether they are still shown or not: by level over time, and by second. */
export class LiveCounts {
  readonly #startedMs: number;
  /** The counts of bars by their end. */
  #bars = new Map<number, Map<Level, number>>();
  /** The numbers of lines that came in the latest seconds. */
  #seconds = new Map<number, number>();

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  /** Adds lines that came in now. Those of the history say nothing about the rate. */
  add(rows: readonly LogRow[], nowMs: number, isHistory = false): void {
    const lastMs = barEnd(nowMs);
    for (const { ms, level } of rows) {
      // A sender's clock may be ahead.
      const endMs = Math.min(barEnd(ms), lastMs);
      if (endMs < rangeAt(nowMs).startMs) continue;
      const bar = this.#bars.get(endMs) ?? new Map<Level, number>();
      bar.set(level, (bar.get(level) ?? 0) + 1);
      this.#bars.set(endMs, bar);
    }
    const second = Math.floor(nowMs / 1_000);
    if (!isHistory) this.#seconds.set(second, (this.#seconds.get(second) ?? 0) + rows.length);
    this.#forget(nowMs);
  }

  /** Lines per second over the last ten seconds. */
  perSecond(nowMs: number): number {
    this.#forget(nowMs);
    const seconds = Math.min(rateSeconds, Math.max(1, (nowMs - this.#startedMs) / 1_000));
    return [...this.#seconds.values()].reduce((sum, lines) => sum + lines, 0) / seconds;
  }

  histogram(nowMs: number): Histogram {
    this.#forget(nowMs);
    const parts = [...this.#bars].flatMap(([endMs, bar]) =>
      [...bar].map(([level, count]) => [endMs, level, count] as const),
    );
    return barsOf(parts, rangeAt(nowMs), stepSeconds);
  }

  #forget(nowMs: number): void {
    const { startMs } = rangeAt(nowMs);
    for (const endMs of this.#bars.keys()) if (endMs < startMs) this.#bars.delete(endMs);
    const oldest = Math.floor(nowMs / 1_000) - rateSeconds;
    for (const second of this.#seconds.keys()) if (second <= oldest) this.#seconds.delete(second);
  }
}

/** The ends of the first and of the last bar. */
function rangeAt(nowMs: number): TimeRange {
  const endMs = barEnd(nowMs);
  return { startMs: endMs - (maxBars - 1) * stepMs, endMs };
}

/** As on the server, a bar includes its end and not its start. */
function barEnd(ms: number): number {
  return Math.ceil(ms / stepMs) * stepMs;
}
