import type { Clock } from '../../core/base/clock.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { apiError } from '../../core/base/errors/table.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import type { AnswerStore } from '../../core/cache/answer-store.js';
import type { CheckedRequest } from '../../core/engine/plan/checked-request.js';
import type { Answer, Exchange, Meters, Rest } from '../../core/plugin/index.js';
import { isCacheable, packSteps, unpackSteps } from '../../core/wire/answer/packed.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';
import type { windowMetrics } from './metrics.js';
import type { Parallelism } from './parallelism.js';
import { timeoutSignal } from '../../core/base/time/waits.js';

/** A cache key, and the TTL of its value. */
export interface KeepKey {
  readonly text: string;
  readonly ttlMs: number;
}

/** Approximate ratio of an unpacked answer's size to its packed size. */
const unpackedFactor = 4;

/** Number of windows loaded at once; small, so that few are loaded that the limit makes unnecessary. */
const foundAtOnce = 8;

/** The cached windows of one query; their keys start with the query's key. */
export class KeptWindows {
  readonly #store: AnswerStore;
  readonly #exchange: Pick<Exchange, 'memory' | 'signal'>;
  readonly #meters: Meters<typeof windowMetrics>;
  readonly #generation: string;
  /** Keys of windows that were not cached, and for which others may wait. */
  readonly #missing = new Set<string>();

  constructor(
    store: AnswerStore,
    exchange: Pick<Exchange, 'memory' | 'signal'>,
    meters: Meters<typeof windowMetrics>,
    question: string,
    private readonly isKept: boolean,
  ) {
    this.#store = store;
    this.#exchange = exchange;
    this.#meters = meters;
    this.#generation = store.generationOf(question);
  }

  /** The packed windows that are cached, in the order of the keys. */
  async find(keys: readonly (KeepKey | undefined)[]): Promise<readonly (Buffer | undefined)[]> {
    if (!this.isKept) return keys.map(() => undefined);
    const found = await Promise.all(
      keys.map((key) => (key === undefined ? Promise.resolve(undefined) : this.#store.get(key.text))),
    );
    for (const [place, key] of keys.entries()) {
      if (key === undefined) continue;
      if (found[place] === undefined) {
        this.#missing.add(key.text);
        this.#meters.window_cache_miss_total.add(1, {});
      } else this.#meters.window_cache_hit_total.add(1, {});
    }
    return found;
  }

  /** As `find`, loading a few windows at a time and only on demand. */
  inTurn(keys: readonly (KeepKey | undefined)[]): (place: number) => Promise<Buffer | undefined> {
    const found: (Buffer | undefined)[] = [];
    return async (place) => {
      while (found.length <= place)
        found.push(...(await this.find(keys.slice(found.length, found.length + foundAtOnce))));
      return found[place];
    };
  }

  async unpack(packed: Buffer): Promise<Answer> {
    this.#exchange.memory.charge(packed.byteLength * unpackedFactor, 'windows that were kept');
    return atPace(unpackSteps(packed), new Pacer(this.#exchange.signal));
  }

  async keep({ text, ttlMs }: KeepKey, answer: Answer): Promise<void> {
    if (!this.isKept || !isCacheable(answer)) return;
    const packed = await atPace(packSteps(answer), new Pacer(this.#exchange.signal));
    this.#missing.delete(text);
    await this.#store.set(text, packed, ttlMs, this.#generation);
  }

  /** Reports that windows that were missing, and were not stored since, will not be stored. */
  giveUp(): void {
    for (const key of this.#missing) this.#store.giveUp(key);
    this.#missing.clear();
  }
}

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

/**
 * Sends parts of one request down the rest of the chain, with a timeout for each. The returned function throws ApiError `queryTimeout` if a
 * part exceeds it.
 */
export function readsOf(
  exchange: Exchange<'tenant' | 'plan'>,
  rest: Rest<'plan'>,
  { timeoutMs, allMs }: ReadTimes,
  {
    clock,
    meters,
  }: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly meters: Meters<typeof windowMetrics> },
  parallelism: Parallelism,
): (read: Read, ended?: AbortSignal) => Promise<Answer> {
  const firstMs = clock.monotonicMs();
  /** The timeout of a read: half of the remaining time, so that later windows get some even if earlier ones hang. */
  const boundAt = (nowMs: number): number => {
    const leftMs = Math.max(0, firstMs + allMs - nowMs);
    return Math.min(
      timeoutMs === 0 ? Infinity : timeoutMs,
      leftMs === Infinity ? leftMs : Math.ceil(leftMs / 2),
    );
  };
  /** @param hasFailed undefined if the caller has left, which says nothing about the backend */
  const observe = (startedMs: number, windows: number, hasFailed: boolean | undefined): void => {
    const tookMs = clock.monotonicMs() - startedMs;
    meters.window_fetch_seconds.observe(tookMs / 1000, {});
    if (hasFailed !== undefined) parallelism.observe(tookMs / windows, hasFailed);
    meters.window_adaptive_parallel_current.set(parallelism.current, {});
    meters.window_adaptive_latency_ewma_seconds.set(parallelism.latencyMs / 1000, {});
    meters.window_adaptive_error_ewma.set(parallelism.errors, {});
  };
  return async ({ request, windows, plan }, ended = exchange.signal) => {
    const startedMs = clock.monotonicMs();
    const boundMs = boundAt(startedMs);
    const timeout = boundMs === Infinity ? undefined : timeoutSignal(boundMs);
    const signal = timeout === undefined ? ended : AbortSignal.any([ended, timeout]);
    let hasFailed = true;
    try {
      const part: QueryRangeRequest = { part: 'window', ...request };
      const slots = plan === undefined ? {} : { slots: { plan } };
      const answer = await rest(exchange.derive<'plan'>({ request: part, signal, isFinal: false, ...slots }));
      hasFailed = false;
      return answer;
    } catch (error) {
      if (timeout?.aborted === true && !ended.aborted) throw apiError('queryTimeout', {}, { cause: error });
      hasFailed = isTrouble(error);
      throw error;
    } finally {
      // A count does not show how long windows take.
      if (plan === undefined) observe(startedMs, windows, ended.aborted ? undefined : hasFailed);
    }
  };
}

/** True for a problem of the backend or this process, and not of the request. */
export function isTrouble(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

/** A time window of a range. Times are Unix milliseconds, bounds of windows are [start, end). */

export interface TimeWindow {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Cutting {
  /** Window length (`-query-range-split-interval`). */
  readonly splitMs: number;
  /** True if windows start at multiples of their length, false if they start at the start of the range. */
  readonly isAligned: boolean;
  /** Lines older than this no longer change. */
  readonly sealedMs: number;
}

/** Maximum number of windows; more would cost more than they save, so each becomes longer. */
const maxWindows = 400;
/** Number of pieces of a window that may still change, most of which no longer do. */
const pieces = 6;
/**
 * Minimum number of windows of a range for which the oldest window is read whole although only a part of it is shown: the next refresh
 * shows it too.
 */
export const fewestWidened = 4;

/**
 * The windows that overlap a range, in order, with the first and last ones whole; at least `atLeastMs` long. Empty for a range that is not
 * twice as long as a window, which is requested as a whole.
 */
export function windowsOf(
  startMs: number,
  endMs: number,
  atLeastMs: number,
  { splitMs, isAligned, sealedMs }: Cutting,
): readonly TimeWindow[] {
  const needed = Math.max(atLeastMs, (endMs - startMs) / (maxWindows - 1));
  const lengthMs = splitMs * Math.max(1, Math.ceil(needed / splitMs));
  if (endMs - startMs < 2 * lengthMs) return [];
  const originMs = isAligned ? Math.floor(startMs / lengthMs) * lengthMs : startMs;
  const windows: TimeWindow[] = [];
  for (let from = originMs; from < endMs; from += lengthMs) {
    const isDivided = from + lengthMs > sealedMs && lengthMs % pieces === 0 && lengthMs / pieces >= atLeastMs;
    const ownMs = isDivided ? lengthMs / pieces : lengthMs;
    for (let at = from; at < from + lengthMs && at < endMs; at += ownMs)
      if (at + ownMs > startMs) windows.push({ startMs: at, endMs: at + ownMs });
  }
  return windows;
}

/** A range of steps in a window, from the first to the last step, both included. */
export interface StepRange {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The steps in a window, at multiples of the step; undefined for none. */
export function stepsIn({ startMs, endMs }: TimeWindow, stepMs: number): StepRange | undefined {
  const firstMs = Math.ceil(startMs / stepMs) * stepMs;
  const lastMs = (Math.ceil(endMs / stepMs) - 1) * stepMs;
  return firstMs > lastMs ? undefined : { firstMs, lastMs };
}

export function commonSteps(a: StepRange, b: StepRange): StepRange | undefined {
  const [firstMs, lastMs] = [Math.max(a.firstMs, b.firstMs), Math.min(a.lastMs, b.lastMs)];
  return firstMs > lastMs ? undefined : { firstMs, lastMs };
}
