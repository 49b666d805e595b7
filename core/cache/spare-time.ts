import { Trace } from '../base/trace.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Host } from '../kernel/plugin/host.js';
import { runningDeletions, type RunningDeletions } from './deletions.js';
import { detachExchange } from './detach.js';

/** Work for later. Ends early when there is no more time to spare. */
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
  /** The longest delay of the event loop or the backend, in milliseconds, with which a job still begins. */
  readonly strainedMs: number;
  /**
   * True if jobs wait at the gates to the backend as queries do, and let the calls of these go first (Caller.yields); else they fail where they would
   * have to wait (Caller.isBackground).
   */
  readonly waitsAtGates: boolean;
}

/** The rules for jobs that must not delay any request. */
export function whileIdle(isIdle: () => boolean): SpareTimeRules {
  return { isIdle, strainedMs: 20, waitsAtGates: false };
}

/**
 * Asks the backend for what somebody will probably ask for: one job at a time, while the process has time for it. A job that finds no time
 * within a minute is dropped, and so are those that come while 64 wait.
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

  /** Whether a job may run, or go on. */
  get isFree(): boolean {
    const { isIdle, strainedMs } = this.#rules;
    return isIdle() && this.#host.strain.lateMs < strainedMs && !this.#stopped.signal.aborted;
  }

  /**
   * Puts a job in the queue, in the place of one by the same name. It runs on an exchange like the given one, with a lifetime and an
   * account of memory of its own; its errors are only logged.
   * @returns false when there is no room
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
    this.#timer ??= setTimeout(() => void this.#turn(), waitMs).unref();
  }

  /** The timer stays until the work is done, so that there is one job at a time. */
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
    // What it finds is to be kept.
    if (isLate || this.#deletions.touch(exchange.slots.tenant)) return;
    const memory = exchange.memory.another();
    const { waitsAtGates } = this.#rules;
    const caller = { ...exchange.caller, isBackground: !waitsAtGates, yields: waitsAtGates };
    try {
      await run(detachExchange(exchange, this.#stopped.signal, { caller, trace: new Trace(), memory }));
    } catch (error) {
      // Nobody waits for it.
      this.#host.log.debug('work ahead of time failed', { error });
    } finally {
      memory.close();
    }
  }
}
