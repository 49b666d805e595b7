import { Trace } from '../base/trace.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Host } from '../kernel/plugin/host.js';
import { runningDeletions, type RunningDeletions } from './keys.js';
import { detachExchange } from './answer-caching.js';
import { startTimer } from '../base/time/waits.js';

/** Deferred work. It ends early when no spare time is left. */
type Job = (exchange: Exchange<'tenant'>) => Promise<void>;

interface Waiting {
  readonly exchange: Exchange<'tenant'>;
  readonly run: Job;
  readonly untilMs: number;
}

const maxJobs = 64;
const waitMs = 250;
const giveUpMs = 60_000;

/** The conditions under which jobs run. */
export interface SpareTimeRules {
  /** True while no request runs that a job would delay. */
  readonly isIdle: () => boolean;
  /** Maximum delay of the event loop or the backend, in milliseconds, at which a job still starts. */
  readonly strainedMs: number;
  /**
   * True if jobs queue for permits as queries do, and let the backend calls of these go first (Caller.yields); otherwise they fail where
   * they would have to queue (Caller.isBackground).
   */
  readonly waitsAtGates: boolean;
}

/** Rules for jobs that must not delay any request. */
export function whileIdle(isIdle: () => boolean): SpareTimeRules {
  return { isIdle, strainedMs: 20, waitsAtGates: false };
}

/**
 * Prefetches data that will probably be requested: one job at a time, while the process is idle. A job that has not started within a minute
 * is dropped, and so are jobs beyond a queue of 64.
 */
export class SpareTime {
  readonly #host: Pick<Host, 'clock' | 'strain' | 'log' | 'shared'>;
  readonly #rules: SpareTimeRules;
  readonly #deletions: RunningDeletions;
  readonly #jobs = new Map<string, Waiting>();
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(host: Pick<Host, 'clock' | 'strain' | 'log' | 'shared'>, rules: SpareTimeRules) {
    this.#host = host;
    this.#rules = rules;
    this.#deletions = runningDeletions(host);
  }

  /** Tells whether a job may start, or go on. */
  get isFree(): boolean {
    const { isIdle, strainedMs } = this.#rules;
    return isIdle() && this.#host.strain.lateMs < strainedMs && !this.#stopped.signal.aborted;
  }

  /**
   * Queues a job, replacing one with the same name. It runs on a copy of the exchange with its own lifetime and memory account; its errors
   * are only logged.
   * @returns false when the queue is full
   */
  add(name: string, exchange: Exchange<'tenant'>, run: Job): boolean {
    if (this.#stopped.signal.aborted || (this.#jobs.size >= maxJobs && !this.#jobs.has(name))) return false;
    this.#jobs.set(name, { exchange, run, untilMs: this.#host.clock.monotonicMs() + giveUpMs });
    this.#wait();
    return true;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopped.abort();
    this.#jobs.clear();
  }

  #wait(): void {
    this.#timer ??= startTimer(() => void this.#turn(), waitMs).unref();
  }

  /** The timer is kept until the job has ended, so that there is one job at a time. */
  async #turn(): Promise<void> {
    await this.#next();
    this.#timer = undefined;
    if (this.#jobs.size > 0 && !this.#stopped.signal.aborted) this.#wait();
  }

  async #next(): Promise<void> {
    const [first] = this.#jobs;
    if (first === undefined) return;
    const [name, { exchange, run, untilMs }] = first;
    const isLate = this.#host.clock.monotonicMs() > untilMs;
    if (!isLate && !this.isFree) return;
    this.#jobs.delete(name);
    // The results would be cached, which a running deletion forbids.
    if (isLate || this.#deletions.touch(exchange.slots.tenant)) return;
    const memory = exchange.memory.another();
    const { waitsAtGates } = this.#rules;
    const caller = { ...exchange.caller, isBackground: !waitsAtGates, yields: waitsAtGates };
    try {
      await run(detachExchange(exchange, this.#stopped.signal, { caller, trace: new Trace(), memory }));
    } catch (error) {
      // No request waits for the job, so its failure is only logged.
      this.#host.log.debug('background work failed', { error });
    } finally {
      memory.close();
    }
  }
}
