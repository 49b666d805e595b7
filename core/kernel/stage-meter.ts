import type { Clock } from '../base/clock.js';
import type { StageFigures } from './plugin/host.js';
import { RecentTimes } from './telemetry/recent-times.js';

/** Counts and times the calls of one stage, in bounded memory. */
export class StageMeter {
  #calls = 0;
  #errors = 0;
  #answeredHere = 0;
  readonly #own = new RecentTimes();
  readonly #total = new RecentTimes();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  begin(): StageCall {
    return new StageCall(this.clock, (outcome, ownMs, totalMs) => {
      this.#calls += 1;
      if (outcome === 'failed') this.#errors += 1;
      if (outcome === 'answered-here') this.#answeredHere += 1;
      this.#own.add(ownMs);
      this.#total.add(totalMs);
    });
  }

  /** Counts a call that took no time worth measuring: the stage did again what it had done before. */
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

/** How a call ended. `passed` means an answer or error of a later stage, or a client that left. */
type Outcome = 'answered-here' | 'passed' | 'failed';

/** One call of a stage. Time while the rest of the chain runs, once or many times in parallel, does not count as the stage's own. */
export class StageCall {
  readonly #startedMs: number;
  #runs = 0;
  #running = 0;
  #restStartedMs = 0;
  #restMs = 0;
  #restError: unknown;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly ended: (outcome: Outcome, ownMs: number, totalMs: number) => void,
  ) {
    this.#startedMs = clock.monotonicMs();
  }

  restStarted(): void {
    this.#runs += 1;
    if (this.#running === 0) this.#restStartedMs = this.clock.monotonicMs();
    this.#running += 1;
  }

  restEnded(error?: unknown): void {
    this.#running -= 1;
    if (this.#running === 0) this.#restMs += this.clock.monotonicMs() - this.#restStartedMs;
    if (error !== undefined) this.#restError = error;
  }

  answered(): void {
    this.#end(this.#runs === 0 ? 'answered-here' : 'passed');
  }

  /** An error from a later stage is counted there; an error after the client has left is not counted. */
  failed(error: unknown, isAborted: boolean): void {
    this.#end(isAborted || error === this.#restError ? 'passed' : 'failed');
  }

  #end(outcome: Outcome): void {
    const nowMs = this.clock.monotonicMs();
    // A rest that continues after the call, as shared work does, counts up to this point.
    const openMs = this.#running > 0 ? nowMs - this.#restStartedMs : 0;
    const totalMs = nowMs - this.#startedMs;
    this.ended(outcome, Math.max(0, totalMs - this.#restMs - openMs), totalMs);
  }
}
