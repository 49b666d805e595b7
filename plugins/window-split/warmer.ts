import type { WindowSplitOptions } from '../../core/base/options.gen.js';
import { ByteLru } from '../../core/base/memory/byte-lru.js';
import { Trace } from '../../core/base/trace.js';
import { detachExchange } from '../../core/cache/detach.js';
import type { Exchange, Host, Rest } from '../../core/plugin/index.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';
import type { Window } from './geometry.js';
import type { windowMetrics } from './metrics.js';

type WarmOptions = Pick<WindowSplitOptions, 'backgroundWarmMaxWindows' | 'historyCacheTtl' | 'splitInterval'>;

/** A metric query whose older neighbours may be read ahead. */
export interface Neighbourhood {
  readonly exchange: Exchange<'tenant' | 'plan'>;
  readonly request: QueryRangeRequest;
  readonly rest: Rest;
  /** The key of all its windows, but for their times. */
  readonly question: string;
  /** The windows that were asked for, in order. */
  readonly windows: readonly Window[];
}

interface Job extends Neighbourhood {
  readonly untilMs: number;
}

const msNs = 1_000_000n;
const maxQuestions = 2_000;
const maxBytes = 2 * 1024 * 1024;
const maxJobs = 64;
const waitMs = 250;
const giveUpMs = 60_000;
/** The most windows of one read. */
const perRead = 4;
/** Later than this, the process has enough to do. */
const strainedMs = 20;

/**
 * Reads the windows before those of a query that has come again, so that they are there when somebody looks further back. One at a time,
 * and only while no range query runs: whatever is asked meanwhile goes first.
 */
export class Warmer {
  readonly #options: WarmOptions;
  readonly #host: Pick<Host<typeof windowMetrics>, 'clock' | 'strain' | 'meters' | 'log'>;
  readonly #isIdle: () => boolean;
  readonly #read: (exchange: Exchange<'tenant' | 'plan'>, rest: Rest) => Promise<unknown>;
  /** Questions that were asked, and whether their neighbours have been read. */
  readonly #asked: ByteLru<{ isWarm: boolean }>;
  readonly #jobs = new Map<string, Job>();
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    options: WarmOptions,
    host: Pick<Host<typeof windowMetrics>, 'clock' | 'strain' | 'meters' | 'log'>,
    isIdle: () => boolean,
    read: (exchange: Exchange<'tenant' | 'plan'>, rest: Rest) => Promise<unknown>,
  ) {
    this.#options = options;
    this.#host = host;
    this.#isIdle = isIdle;
    this.#read = read;
    this.#asked = new ByteLru({ maxEntries: maxQuestions, maxBytes, clock: host.clock });
  }

  /** A query has been answered. */
  answered(neighbourhood: Neighbourhood): void {
    const { question } = neighbourhood;
    const asked = this.#asked.get(question);
    if (asked === undefined) {
      this.#asked.set(question, { isWarm: false }, 2 * question.length, this.#options.historyCacheTtl);
      return;
    }
    if (asked.isWarm || this.#jobs.size >= maxJobs || this.#stopped.signal.aborted) return;
    asked.isWarm = true;
    this.#jobs.set(question, {
      ...neighbourhood,
      untilMs: this.#host.clock.monotonicMs() + giveUpMs,
    });
    this.#wait();
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
    const [question, job] = first;
    const isLate = this.#host.clock.monotonicMs() > job.untilMs;
    if (!isLate && !this.#isFree()) return;
    this.#jobs.delete(question);
    if (isLate) return;
    const memory = job.exchange.memory.another();
    try {
      await this.#warm(
        job,
        detachExchange(job.exchange, this.#stopped.signal, { trace: new Trace(), memory }),
      );
    } catch (error) {
      // Nobody waits for it.
      this.#host.log.debug('windows were not read ahead', { error });
    } finally {
      memory.close();
    }
  }

  /** Newest first. Ends early when somebody asks. */
  async #warm({ request, rest, windows }: Job, detached: Exchange<'tenant'>): Promise<void> {
    const [first] = windows;
    const { splitInterval, backgroundWarmMaxWindows } = this.#options;
    // Shorter ones may still change, and longer ones are those of a very long range.
    if (first === undefined || first.endMs - first.startMs !== splitInterval) return;
    let left = Math.min(backgroundWarmMaxWindows, windows.length);
    for (let endMs = first.startMs; left > 1 && this.#isFree();) {
      // A single window would be asked for as it is.
      const count = left <= perRead + 1 ? left : perRead;
      const startMs = endMs - count * splitInterval;
      const range = { startNs: BigInt(startMs) * msNs, endNs: BigInt(endMs) * msNs };
      await this.#read(detached.derive<'plan'>({ request: { ...request, range } }), rest);
      this.#host.meters.window_warmed_total.add(count, {});
      left -= count;
      endMs = startMs;
    }
  }

  #isFree(): boolean {
    return this.#isIdle() && this.#host.strain.lateMs < strainedMs && !this.#stopped.signal.aborted;
  }
}
