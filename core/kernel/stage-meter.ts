import type { Waits } from '../base/time/waits.js';
import type { Clock } from '../base/clock.js';
import type { Latency, StageFigures } from './plugin/host.js';

/** Number of durations kept. */
const remembered = 1_024;

/** The most recent durations, in a ring buffer. */
export class RecentTimes {
  readonly #ring = new Float64Array(remembered);
  #count = 0;

  add(ms: number): void {
    this.#ring[this.#count % remembered] = ms;
    this.#count += 1;
  }

  /** Quantiles of the kept durations; undefined if there are none. */
  latency(): Latency | undefined {
    if (this.#count === 0) return undefined;
    const sorted = this.#ring.slice(0, Math.min(this.#count, remembered)).sort();
    return { p50: rankOf(sorted, 0.5), p95: rankOf(sorted, 0.95) };
  }
}

/** The smallest duration that at least this share of the calls did not exceed. */
function rankOf(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** Counts and times the calls of one stage, in bounded memory. */
export class StageMeter {
  #calls = 0;
  #errors = 0;
  #answeredHere = 0;
  readonly #own = new RecentTimes();
  readonly #total = new RecentTimes();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  /** @param borrowed provided by an earlier stage: the time that the stage waits for it is not its own */
  begin(borrowed?: Waits): StageCall {
    return new StageCall(this.clock, borrowed, (outcome, ownMs, totalMs) => {
      this.#calls += 1;
      if (outcome === 'failed') this.#errors += 1;
      if (outcome === 'answered-here') this.#answeredHere += 1;
      this.#own.add(ownMs);
      this.#total.add(totalMs);
    });
  }

  /** Counts a repeated call, whose duration is not worth measuring. */
  repeated(isAnswer: boolean): void {
    this.#calls += 1;
    if (isAnswer) this.#answeredHere += 1;
    this.#own.add(0);
    this.#total.add(0);
  }

  figures(): StageFigures {
    return {
      calls: this.#calls,
      errors: this.#errors,
      answeredHere: this.#answeredHere,
      ownMs: this.#own.latency(),
      totalMs: this.#total.latency(),
    };
  }
}

/** Outcome of a call. `passed` means an answer or error of a later stage, or a client that left. */
type Outcome = 'answered-here' | 'passed' | 'failed';

/**
 * One call of a stage. Time in which the rest of the chain runs, once or several times in parallel, is not the stage's own, except for the
 * time that the rest waits for something this stage provides. Rows that are pulled long after the backend's stage has passed the exchange
 * on are thus charged to that stage, and not to the one that pulls them.
 */
export class StageCall {
  readonly #startedMs: number;
  #runs = 0;
  #running = 0;
  #restStartedMs = 0;
  #restMs = 0;
  #borrowedInRestMs = 0;
  readonly #borrowedBeforeMs: number;
  #borrowedAtRestMs = 0;
  readonly #lentAtStart = new Map<Waits, number>();
  #restError: unknown;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly borrowed: Waits | undefined,
    private readonly ended: (outcome: Outcome, ownMs: number, totalMs: number) => void,
  ) {
    this.#startedMs = clock.monotonicMs();
    this.#borrowedBeforeMs = borrowed?.ms ?? 0;
  }

  /** @param waits those of the exchange on which the rest runs; other ones than the stage's own are provided by it */
  restStarted(waits?: Waits): void {
    this.#runs += 1;
    if (waits !== undefined && waits !== this.borrowed && !this.#lentAtStart.has(waits))
      this.#lentAtStart.set(waits, waits.ms);
    if (this.#running === 0) {
      this.#restStartedMs = this.clock.monotonicMs();
      this.#borrowedAtRestMs = this.borrowed?.ms ?? 0;
    }
    this.#running += 1;
  }

  restEnded(error?: unknown): void {
    this.#running -= 1;
    if (this.#running === 0) {
      this.#restMs += this.clock.monotonicMs() - this.#restStartedMs;
      this.#borrowedInRestMs += (this.borrowed?.ms ?? 0) - this.#borrowedAtRestMs;
    }
    if (error !== undefined) this.#restError = error;
  }

  answered(): void {
    this.#end(this.#runs === 0 ? 'answered-here' : 'passed');
  }

  /** Ends the call with an error. An error from a later stage is counted there; an error after the client has left is not counted. */
  failed(error: unknown, isAborted: boolean): void {
    this.#end(isAborted || error === this.#restError ? 'passed' : 'failed');
  }

  #end(outcome: Outcome): void {
    const nowMs = this.clock.monotonicMs();
    // A rest that outlives the call, as shared work does, is counted up to this point.
    const isOpen = this.#running > 0;
    const restMs = this.#restMs + (isOpen ? nowMs - this.#restStartedMs : 0);
    const totalMs = nowMs - this.#startedMs;
    this.ended(outcome, Math.max(0, totalMs - restMs + this.#lentMs() - this.#borrowedMs(isOpen)), totalMs);
  }

  /** Time that the rest waited for something this stage provides. */
  #lentMs(): number {
    return [...this.#lentAtStart].reduce((sum, [waits, beforeMs]) => sum + waits.ms - beforeMs, 0);
  }

  /** Time that this stage itself waited for something provided by an earlier one. */
  #borrowedMs(isOpen: boolean): number {
    const nowMs = this.borrowed?.ms ?? 0;
    const inRestMs = this.#borrowedInRestMs + (isOpen ? nowMs - this.#borrowedAtRestMs : 0);
    return nowMs - this.#borrowedBeforeMs - inRestMs;
  }
}
