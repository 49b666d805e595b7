import { escapeText } from '../../core/base/keys/escape.js';
import { dataOwner } from '../../core/base/keys/data-owner.js';
import { keyOf, type KeyParts } from '../../core/base/keys/parts.js';
import type { Caller } from '../../core/base/caller.js';
import { inParallel } from '../../core/base/pace/in-parallel.js';
import type { WindowSplitOptions } from '../../core/base/options.gen.js';
import type { AnswerStore } from '../../core/cache/answer-store.js';
import { planMatchers } from '../../core/engine/plan/matchers.js';
import type { Exchange, Host, Rest } from '../../core/plugin/index.js';
import type { MatrixAnswer, StreamsAnswer } from '../../core/wire/answer/types.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';
import { countRequest, countsOf } from './count-query.js';
import type { Cutting, Window } from './geometry.js';
import { KeptWindows, type KeepKey } from './kept-windows.js';
import type { LineCounts, Reading } from './line-counts.js';
import type { windowMetrics } from './metrics.js';
import type { Parallelism } from './parallelism.js';
import { isTrouble, Reads, type Read } from './reads.js';

/** What the stage has for all its requests. */
export interface WindowHouse {
  readonly options: WindowSplitOptions;
  readonly host: Host<typeof windowMetrics>;
  readonly store: AnswerStore;
  readonly counts: LineCounts;
  readonly parallelism: Parallelism;
  readonly callers: KeyParts<Caller>;
}

/** Thrown where a part says something that is about the whole: the request is then asked as one. */
export class AskWhole extends Error {}

/** What is known of a window before it is read. */
export interface WindowFacts {
  /** Where it is kept; undefined while it may still change. */
  readonly key: KeepKey | undefined;
  /** The lines of all its streams; undefined when they were not counted. */
  readonly lines: number | undefined;
}

const msNs = 1_000_000n;
const unknown: WindowFacts = { key: undefined, lines: undefined };

/** The windows of one request: how they are cut, found, read and kept. */
export class Windowing {
  readonly #house: WindowHouse;
  readonly #exchange: Exchange<'tenant' | 'plan'>;
  readonly #request: QueryRangeRequest;
  readonly #reads: Reads;
  readonly kept: KeptWindows;
  #expensive = false;
  #failed = 0;

  constructor(
    house: WindowHouse,
    exchange: Exchange<'tenant' | 'plan'>,
    request: QueryRangeRequest,
    rest: Rest<'plan'>,
  ) {
    const { options, host, store, parallelism } = house;
    this.#house = house;
    this.#exchange = exchange;
    this.#request = request;
    this.#reads = new Reads(exchange, rest, options, host, parallelism);
    this.kept = new KeptWindows(store, exchange, host.meters);
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  cutting(readings: readonly Reading[]): Cutting {
    const { splitInterval, alignWindows } = this.#house.options;
    return { splitMs: splitInterval, isAligned: alignWindows, sealedMs: this.#sealedMs(readings) };
  }

  /** Windows that end after this may still change: lines are on their way, or are looked for in the future. */
  #sealedMs(readings: readonly Reading[]): number {
    const aheadMs = Math.max(0, ...readings.map(({ offsetMs }) => -offsetMs));
    return this.#house.host.clock.nowMs() - this.#house.options.freshness - aheadMs;
  }

  /** The limit on series of the request as a whole; 0 for none. */
  get maxSeries(): number {
    const { tenant } = this.#exchange.slots;
    if (this.#request.isPart === true) return 0;
    return this.#house.host.limits.of(tenant.limitIds ?? [tenant.id]).maxQuerySeries;
  }

  /** Puts windows together; an answer without some of them says so. */
  async together<Whole extends { readonly warnings: readonly string[] }>(
    join: () => Promise<Whole>,
  ): Promise<Whole> {
    const { clock, meters } = this.#house.host;
    const startedMs = clock.monotonicMs();
    const whole = await join();
    meters.window_merge_seconds.observe((clock.monotonicMs() - startedMs) / 1000, {});
    if (this.#failed === 0) return whole;
    meters.window_partial_response_total.add(1, {});
    return { ...whole, warnings: [`partial response: ${this.#failed} time windows could not be read`] };
  }

  /** Whether the range reads older lines than the tenant may see: what is kept may hold them. */
  isBeyondReach(startMs: number, readings: readonly Reading[]): boolean {
    const { oldestNs } = this.#exchange.slots.tenant;
    if (oldestNs === undefined) return false;
    return readings.some(
      ({ lookbackMs, offsetMs }) => BigInt(Math.floor(startMs - lookbackMs - offsetMs)) * msNs < oldestNs,
    );
  }

  /**
   * Where windows are kept. Those that end within `-query-range-freshness` of now may still change. The key of the others holds the number
   * of lines that they read, so that a line which comes late makes another key.
   */
  async factsOf(windows: readonly Window[], readings: readonly Reading[]): Promise<readonly WindowFacts[]> {
    const { options, host } = this.#house;
    host.meters.window_count.observe(windows.length, {});
    const nowMs = host.clock.nowMs();
    const sealedMs = this.#sealedMs(readings);
    const sealed = windows.filter(({ endMs }) => endMs <= sealedMs);
    const isCounted =
      options.historyRevalidate > 0 ||
      (options.prefilterIndexStats && sealed.length >= options.prefilterMinWindows);
    const lines = isCounted ? await this.#count(sealed, readings) : [];
    const counted = new Map(sealed.map((window, place) => [window, lines[place]]));
    return windows.map((window): WindowFacts => {
      if (counted.has(window)) {
        const own = counted.get(window);
        if (isCounted && own === undefined) return unknown;
        const version = options.historyRevalidate > 0 ? (own ?? []).join('+') : '-';
        const key = { text: this.#keyOf(window, version), ttlMs: options.historyCacheTtl };
        return { key, lines: own?.reduce((sum, count) => sum + count, 0) };
      }
      if (options.recentCacheTtl === 0 || window.endMs > nowMs) return unknown;
      return {
        key: { text: this.#keyOf(window, 'recent'), ttlMs: options.recentCacheTtl },
        lines: undefined,
      };
    });
  }

  async #count(
    windows: readonly Window[],
    readings: readonly Reading[],
  ): Promise<readonly (readonly number[] | undefined)[]> {
    const { counts, host, options, callers } = this.#house;
    const { meters, clock } = host;
    if (windows.length === 0) return [];
    const startedMs = clock.monotonicMs();
    const { slots, caller } = this.#exchange;
    const owner = `${dataOwner(slots.tenant)} ${keyOf(callers, caller)}`;
    meters.window_prefilter_attempt_total.add(1, {});
    try {
      const lines = await counts.of(windows, readings, owner, async (matchers, bucketMs, firstMs, lastMs) => {
        const request = countRequest(matchers, bucketMs, firstMs, lastMs);
        const { filter } = planMatchers(matchers, host.naming.forTenant(slots.tenant.id));
        const plan = { kind: 'line-counts', filter } as const;
        const answer = await this.#reads.read({ request, windows: windows.length, plan });
        return countsOf(answer, bucketMs, firstMs);
      });
      const holding = lines.filter((own) => own === undefined || own.some((count) => count > 0)).length;
      meters.window_prefilter_kept_total.add(holding, {});
      meters.window_prefilter_hit_ratio.set(holding / windows.length, {});
      const known = lines.flatMap((own) => own ?? []);
      this.#expensive =
        options.streamAwareBatching &&
        known.reduce((sum, count) => sum + count, 0) > options.expensiveHitThreshold * windows.length;
      return lines;
    } catch (error) {
      meters.window_prefilter_error_total.add(1, {});
      throw error;
    } finally {
      meters.window_prefilter_duration_seconds.observe((clock.monotonicMs() - startedMs) / 1000, {});
    }
  }

  #keyOf({ startMs, endMs }: Window, version: string): string {
    const { slots, caller } = this.#exchange;
    const { query, stepNs, direction, isPart } = this.#request;
    const owner = `${dataOwner(slots.tenant)}:${keyOf(this.#house.callers, caller)}`;
    const kind = query.ast.kind === 'log' ? direction : `${stepNs}${isPart === true ? 'p' : ''}`;
    return `window:${owner}:${startMs}-${endMs}:${kind}:${version}:${escapeText(query.text)}`;
  }

  /** Whether windows without lines need not be read. */
  skipsEmpty(facts: readonly WindowFacts[]): boolean {
    const { prefilterIndexStats, prefilterMinWindows } = this.#house.options;
    return prefilterIndexStats && facts.length >= prefilterMinWindows;
  }

  skipped(): void {
    this.#house.host.meters.window_prefilter_skipped_total.add(1, {});
  }

  /** Neighbours in as many groups as may be read at once. */
  divided<Slot>(run: readonly Slot[]): readonly (readonly Slot[])[] {
    const { expensiveMaxParallel } = this.#house.options;
    const { current } = this.#house.parallelism;
    const groups = Math.min(run.length, this.#expensive ? Math.min(expensiveMaxParallel, current) : current);
    const size = Math.ceil(run.length / groups);
    return Array.from({ length: Math.ceil(run.length / size) }, (_none, index) =>
      run.slice(index * size, (index + 1) * size),
    );
  }

  inParallel<Part>(
    parts: readonly Part[],
    run: (part: Part, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    return inParallel(parts, this.#house.parallelism.current, run, this.signal);
  }

  async readMatrix(read: Read, signal: AbortSignal): Promise<MatrixAnswer> {
    const answer = await this.#reads.read(read, signal);
    if (answer.kind !== 'matrix' || answer.warnings.length > 0) throw new AskWhole();
    return answer;
  }

  async readStreams(read: Read): Promise<StreamsAnswer> {
    const answer = await this.#reads.read(read);
    if (answer.kind !== 'streams' || answer.warnings.length > 0) throw new AskWhole();
    return answer;
  }

  /** A read has failed; its windows are read again, one at a time. */
  degrades(windows: number): void {
    const { meters } = this.#house.host;
    meters.window_degraded_batch_total.add(1, {});
    meters.window_retry_total.add(windows, {});
  }

  /** A window, or nothing where it cannot be read and answers may be partial. */
  async orWithout<Value>(read: () => Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
    try {
      return await read();
    } catch (error) {
      if (
        !this.#house.options.partialResponses ||
        !isTrouble(error) ||
        signal.aborted ||
        error instanceof AskWhole
      )
        throw error;
      this.#failed += 1;
      return undefined;
    }
  }
}
