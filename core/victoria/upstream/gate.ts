import { FairQueue, type Owner, heldPermit, type HeldPermit } from '../../base/admission/fair-queue.js';
import { WaitBudget, startInterval, timeoutSignal } from '../../base/time/waits.js';
import { apiError } from '../../base/errors/table.js';

interface CallGateOptions {
  /** Maximum number of concurrent calls; 0 means unlimited. */
  readonly limit: number;
  /** Maximum wait for a permit. */
  readonly waitMs: number;
  readonly nowMs: () => number;
  /** Maximum queue length, short enough that choosing the next call takes negligible time. */
  readonly maxWaiting: number;
  /** Creates the error of a call that finds the queue full. */
  readonly full: (limit: number, waiting: number) => Error;
  /** Creates the error of a call that has waited too long; ApiError `queryTimeout` by default. */
  readonly late?: () => Error;
  /** Called when the number of running or waiting calls changes. */
  readonly onChange: (running: number, waiting: number) => void;
}

/**
 * Limits concurrent calls. A free permit goes to the owner with the fewest, so that a request with many calls does not make the others wait
 * for all of them.
 *
 * A call releases its permit while its answer is not being read: its reader may be waiting for another call, which could never run if such
 * answers held all permits.
 */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #queue: FairQueue;

  constructor(options: CallGateOptions) {
    const { limit, nowMs, maxWaiting, full, late = (): Error => apiError('queryTimeout', {}) } = options;
    this.#options = options;
    const refusal = (isFull: boolean): Error => (isFull ? full(limit, maxWaiting) : late());
    this.#queue = new FairQueue({ maxWaiting, refusal, nowMs });
  }

  get running(): number {
    return this.#queue.running;
  }

  /**
   * Waits for a permit.
   * @param budget the time that the call may wait; `waitMs` by default
   * @throws the signal's reason, `full` or `late`
   */
  async enter(
    owner: Owner,
    signal: AbortSignal,
    budget = new WaitBudget(this.#options.waitMs, this.#options.nowMs),
  ): Promise<HeldPermit> {
    const queue = this.#queue;
    try {
      if (queue.waiting === 0 && this.#hasPermit()) queue.take(owner);
      else {
        const turn = queue.wait(owner, 'call', budget, signal);
        this.#notify();
        await turn;
      }
    } finally {
      this.#notify();
    }
    return heldPermit(
      () => {
        queue.take(owner);
        this.#notify();
      },
      () => {
        queue.release(owner);
        while (this.#hasPermit() && queue.admitNext());
        this.#notify();
      },
    );
  }

  #hasPermit(): boolean {
    const { limit } = this.#options;
    return limit === 0 || this.#queue.running < limit;
  }

  #notify(): void {
    this.#options.onChange(this.#queue.running, this.#queue.waiting);
  }
}

interface PulseOptions {
  /** Sends a probe whose cost for the backend is constant. May reject. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>;
  readonly nowMs: () => number;
  /** Reports the number of milliseconds by which the probe exceeds the normal time. */
  readonly report: (lateMs: number) => void;
}

const everyMs = 100;
const withinMs = 2_000;
/** Tolerated delay. Smaller delays, and a single late probe, may come from the network. */
const toleranceMs = 5;
const weightOfOne = 0.3;
/** Number of calls that cause no queueing. */
const uncontendedCalls = 1;
/**
 * Rate at which the shortest time is forgotten, over a quarter of an hour of probing: the normal time may change, for example if the
 * backend moves.
 */
const forgetting = 1e-4;

/**
 * Measures whether the backend is overloaded. While calls run, it is probed ten times a second with a request of constant cost. The excess
 * over the shortest time is the queueing delay that every call suffers there. The durations of the calls themselves show nothing, because
 * their costs differ.
 */
export class Pulse {
  readonly #options: PulseOptions;
  #timer: NodeJS.Timeout | undefined;
  #calls = 0;
  #bestMs = Infinity;
  #lateMs = 0;
  /** Start time of the current probe. */
  #sinceMs: number | undefined;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  /** Updates the number of running calls. */
  calls(running: number): void {
    this.#calls = running;
    if (running > uncontendedCalls) this.#timer ??= startInterval(() => this.#beat(), everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    const { nowMs, report } = this.#options;
    if (this.#sinceMs === undefined) {
      if (this.#calls > uncontendedCalls) void this.#probe();
      else this.stop();
      return;
    }
    // A probe that has not returned yet is already late.
    if (this.#bestMs !== Infinity)
      report(Math.max(this.#lateMs, weightOfOne * this.#lateness(nowMs() - this.#sinceMs)));
  }

  async #probe(): Promise<void> {
    const { probe, nowMs, report } = this.#options;
    this.#sinceMs = nowMs();
    try {
      await probe(timeoutSignal(withinMs));
    } catch {
      // An error response counts like an answer. A backend that does not answer at all is left to the circuit breaker.
    }
    const tookMs = nowMs() - this.#sinceMs;
    this.#sinceMs = undefined;
    const best = this.#bestMs;
    this.#bestMs = best === Infinity ? tookMs : Math.min(tookMs, best + (tookMs - best) * forgetting);
    this.#lateMs += weightOfOne * (this.#lateness(tookMs) - this.#lateMs);
    report(this.#lateMs);
  }

  #lateness(tookMs: number): number {
    return Math.max(0, tookMs - 2 * this.#bestMs - toleranceMs);
  }
}

/** The calls of this process that run on the backend, now and recently. */
export interface OwnCallsView {
  readonly running: number;
  /** Recent maximum of concurrent calls. */
  readonly latePeak: number;
}

/** VictoriaLogs updates its gauges once a second, so their view of this process may be this old. */
const lateMs = 1_500;

/** Counts the calls of this process, so that they can be subtracted from the backend's own count. */
export class OwnCalls implements OwnCallsView {
  readonly #nowMs: () => number;
  running = 0;
  #sinceMs = -Infinity;
  /** Maximum in the current time slice, and in the previous one. */
  #peak = 0;
  #before = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  set(running: number): void {
    this.#roll();
    this.running = running;
    this.#peak = Math.max(this.#peak, running);
  }

  get latePeak(): number {
    this.#roll();
    return Math.max(this.#peak, this.#before);
  }

  #roll(): void {
    const now = this.#nowMs();
    const slices = Math.floor((now - this.#sinceMs) / lateMs);
    if (slices < 1) return;
    this.#before = slices === 1 ? this.#peak : this.running;
    this.#peak = this.running;
    this.#sinceMs = now;
  }
}
