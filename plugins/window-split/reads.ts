import { ApiError } from '../../core/base/errors/api-error.js';
import { apiError } from '../../core/base/errors/table.js';
import type { Clock } from '../../core/base/clock.js';
import type { Answer, Exchange, Meters, Rest } from '../../core/plugin/index.js';
import type { CheckedRequest } from '../../core/engine/plan/checked-request.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';
import type { windowMetrics } from './metrics.js';
import type { Parallelism } from './parallelism.js';

/** A part of a range for one read, with its number of windows. */
export interface Read {
  readonly request: QueryRangeRequest;
  readonly windows: number;
  /** The plan, if it differs from that of the exchange's request. */
  readonly plan?: CheckedRequest;
}

/** Timeouts of the reads of one request. */
export interface ReadTimes {
  /** Timeout of each read, whatever its number of windows; 0 for no limit. */
  readonly timeoutMs: number;
  /** Timeout of all reads together, so that an answer without hanging windows is still in time; Infinity for no limit. */
  readonly allMs: number;
}

const maxTimerMs = 2 ** 31 - 1;

/** Sends parts of one request down the rest of the chain, with a timeout for each. */
export class Reads {
  readonly #exchange: Exchange<'tenant' | 'plan'>;
  readonly #rest: Rest<'plan'>;
  readonly #times: ReadTimes;
  readonly #startedMs: number;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #meters: Meters<typeof windowMetrics>;
  readonly #parallelism: Parallelism;

  constructor(
    exchange: Exchange<'tenant' | 'plan'>,
    rest: Rest<'plan'>,
    times: ReadTimes,
    host: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly meters: Meters<typeof windowMetrics> },
    parallelism: Parallelism,
  ) {
    this.#exchange = exchange;
    this.#rest = rest;
    this.#times = times;
    this.#clock = host.clock;
    this.#startedMs = host.clock.monotonicMs();
    this.#meters = host.meters;
    this.#parallelism = parallelism;
  }

  /** @throws ApiError `queryTimeout` if the part exceeds its timeout */
  async read({ request, windows, plan }: Read, ended: AbortSignal = this.#exchange.signal): Promise<Answer> {
    const startedMs = this.#clock.monotonicMs();
    const boundMs = this.#boundMs(startedMs);
    const timeout = boundMs > maxTimerMs ? undefined : AbortSignal.timeout(boundMs);
    const signal = timeout === undefined ? ended : AbortSignal.any([ended, timeout]);
    let hasFailed = true;
    try {
      const part: QueryRangeRequest = { part: 'window', ...request };
      const slots = plan === undefined ? {} : { slots: { plan } };
      const answer = await this.#rest(
        this.#exchange.derive<'plan'>({ request: part, signal, isFinal: false, ...slots }),
      );
      hasFailed = false;
      return answer;
    } catch (error) {
      if (timeout?.aborted === true && !ended.aborted) throw apiError('queryTimeout', {}, { cause: error });
      hasFailed = isTrouble(error);
      throw error;
    } finally {
      // A count does not show how long windows take.
      if (plan === undefined) this.#observe(startedMs, windows, ended.aborted ? undefined : hasFailed);
    }
  }

  /** The timeout of a read: half of the remaining time, so that later windows get some even if earlier ones hang. */
  #boundMs(nowMs: number): number {
    const { timeoutMs, allMs } = this.#times;
    const leftMs = Math.max(0, this.#startedMs + allMs - nowMs);
    return Math.min(
      timeoutMs === 0 ? Infinity : timeoutMs,
      leftMs === Infinity ? leftMs : Math.ceil(leftMs / 2),
    );
  }

  /** @param hasFailed undefined if the caller has left, which says nothing about the backend */
  #observe(startedMs: number, windows: number, hasFailed: boolean | undefined): void {
    const tookMs = this.#clock.monotonicMs() - startedMs;
    this.#meters.window_fetch_seconds.observe(tookMs / 1000, {});
    if (hasFailed !== undefined) this.#parallelism.observe(tookMs / windows, hasFailed);
    this.#meters.window_adaptive_parallel_current.set(this.#parallelism.current, {});
    this.#meters.window_adaptive_latency_ewma_seconds.set(this.#parallelism.latencyMs / 1000, {});
    this.#meters.window_adaptive_error_ewma.set(this.#parallelism.errors, {});
  }
}

/** True for a problem of the backend or this process, and not of the request. */
export function isTrouble(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}
