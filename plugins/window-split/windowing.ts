import { inParallel } from '../../core/base/pace/in-parallel.js';
import type { WindowSplitOptions } from '../../core/base/options.gen.js';
import type { AnswerStore } from '../../core/cache/answer-store.js';
import type { Memory } from '../../core/base/memory/byte-lru.js';
import { type CacheKeys, runningDeletions } from '../../core/cache/keys.js';
import type { Assumptions } from '../../core/engine/metric/cost.js';
import type { Matcher } from '../../core/logql/ast.js';
import type { Exchange, Host, Rest } from '../../core/plugin/index.js';
import type { MatrixAnswer, StreamsAnswer } from '../../core/wire/answer/types.js';
import { Query, type QueryRangeRequest } from '../../core/wire/api/request.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';
import {
  type Cutting,
  isTrouble,
  type KeepKey,
  KeptWindows,
  type Read,
  readsOf,
  type ReadTimes,
  type TimeWindow,
} from './windows.js';
import type { LineCounter, LineCounts, SelectorRead } from './line-counts.js';
import type { windowMetrics } from './metrics.js';
import type { Parallelism } from './parallelism.js';
import { printSelector } from '../../core/logql/index.js';

/** Dependencies of the stage, shared by all of its requests. */
export interface WindowingDeps {
  readonly options: WindowSplitOptions;
  readonly host: Host<typeof windowMetrics>;
  readonly store: AnswerStore;
  readonly counts: LineCounts;
  readonly parallelism: Parallelism;
  readonly keys: CacheKeys;
  /** Queries that were sent before. */
  readonly asked: Memory<true>;
  /** Rows per millisecond, by selector. */
  readonly densities: Memory<number>;
}

/** Thrown if the answer to a part concerns the whole: the request is then sent as a whole. */
export class FallBackToWholeRange extends Error {}

/** Facts about a window before it is read. */
export interface KnownWindow extends TimeWindow {
  /** Its cache key; undefined while it may still change. */
  readonly key: KeepKey | undefined;
  /** True if its streams have no line in it, so that it need not be read. */
  readonly isEmpty: boolean;
  /** The number of lines that it reads; undefined if they were not counted. */
  readonly lines: number | undefined;
}

const msNs = 1_000_000n;
/** Number of lines that one read answers about as fast as parallel reads of parts of them. */
const linesOfRead = 200_000;
const densityMs = 60_000;
/** Share of a request's time after which missing windows are given up if answers may be partial. */
const partialShare = 0.8;

/** The windows of one request: splits the range, and finds, reads and caches windows. */
export class Windowing {
  readonly #deps: WindowingDeps;
  readonly #exchange: Exchange<'tenant' | 'plan'>;
  readonly #request: QueryRangeRequest;
  readonly #read: ReturnType<typeof readsOf>;
  readonly kept: KeptWindows;
  /** The key of all its windows, without their times and versions. */
  readonly question: string;
  readonly #assumptions: Assumptions | undefined;
  /** A single current time for the whole request: windows that are final at its start stay final. */
  readonly #nowMs: number;
  /** Windows of the whole request, in order. */
  windows: readonly TimeWindow[] = [];
  #expensive = false;
  /** False after a count that failed: the next one would fail as well. */
  #canCount = true;
  #failed = 0;
  /** Assumptions that the windows rely on, besides their rows. */
  #assumed: readonly string[] = [];

  constructor(
    deps: WindowingDeps,
    exchange: Exchange<'tenant' | 'plan'>,
    request: QueryRangeRequest,
    rest: Rest<'plan'>,
  ) {
    const { host, store, parallelism } = deps;
    this.#deps = deps;
    this.#exchange = exchange;
    this.#request = request;
    this.#read = readsOf(exchange, rest, this.#times(), host, parallelism);
    this.question = this.#questionOf(keptAs(request));
    const isKept = !runningDeletions(host).touch(exchange.slots.tenant);
    this.kept = new KeptWindows(store, exchange, host.meters, this.question, isKept);
    this.#nowMs = host.clock.nowMs();
    this.#assumptions = exchange.slots.assumptions;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  cutting(readings: readonly SelectorRead[]): Cutting {
    const { splitInterval, alignWindows } = this.#deps.options;
    return { splitMs: splitInterval, isAligned: alignWindows, sealedMs: this.#sealedMs(readings) };
  }

  /** Windows that end after this time may still change: lines may be on their way, or the query may read the future. */
  #sealedMs(readings: readonly SelectorRead[]): number {
    const aheadMs = Math.max(0, ...readings.map(({ offsetMs }) => -offsetMs));
    return this.#nowMs - this.#deps.options.freshness - aheadMs;
  }

  get #limits(): TenantLimits {
    const { tenant } = this.#exchange.slots;
    return this.#deps.host.limits.of(tenant.limitIds ?? [tenant.id]);
  }

  #times(): ReadTimes {
    const { options, host } = this.#deps;
    const { requestTimeout = 0 } = host.limits.process;
    const bounds = [this.#limits.queryTimeoutMs, requestTimeout].filter((ms) => ms > 0);
    const allMs = options.partialResponses ? partialShare * Math.min(Infinity, ...bounds) : Infinity;
    return { timeoutMs: options.windowTimeout, allMs };
  }

  /** The series limit of the request as a whole; 0 for none. */
  get maxSeries(): number {
    return this.#request.isPart === true ? 0 : this.#limits.maxQuerySeries;
  }

  /** Joins windows; an incomplete answer gets a warning. */
  async together<Whole extends { readonly warnings: readonly string[] }>(
    join: () => Promise<Whole>,
  ): Promise<Whole> {
    const { clock, meters } = this.#deps.host;
    const startedMs = clock.monotonicMs();
    const whole = await join();
    meters.window_merge_seconds.observe((clock.monotonicMs() - startedMs) / 1000, {});
    if (this.#assumed.length > 0) return { ...whole, warnings: this.#assumed, isProvisional: true };
    if (this.#failed === 0) return whole;
    meters.window_partial_response_total.add(1, {});
    return { ...whole, warnings: [`partial response: ${this.#failed} time windows could not be read`] };
  }

  /** True if the range reads lines that are older than the tenant may read: cached windows may contain them. */
  isBeyondReach(startMs: number, readings: readonly SelectorRead[]): boolean {
    const { oldestNs } = this.#exchange.slots.tenant;
    if (oldestNs === undefined) return false;
    return readings.some(
      ({ lookbackMs, offsetMs }) => BigInt(Math.floor(startMs - lookbackMs - offsetMs)) * msNs < oldestNs,
    );
  }

  /** Sets the windows of the whole request, in order. */
  begin(windows: readonly TimeWindow[]): void {
    this.windows = windows;
    this.#deps.host.meters.window_count.observe(windows.length, {});
  }

  /**
   * Determines the cache keys of windows, and which are empty. Windows that end within `-query-range-freshness` of now may still change.
   * The key of the others contains the number of lines that they read, so that a line that arrives late changes the key.
   * @param windows all windows of the request, or some of them
   * @param isEmptyWithoutLines true if a window without lines has an empty answer
   */
  async known(
    windows: readonly TimeWindow[],
    readings: readonly SelectorRead[],
    isEmptyWithoutLines: boolean,
  ): Promise<readonly KnownWindow[]> {
    const { options } = this.#deps;
    const { historyRevalidate, prefilterIndexStats, prefilterMinWindows } = options;
    const sealedMs = this.#sealedMs(readings);
    const sealed = windows.filter(({ endMs }) => endMs <= sealedMs);
    const isFiltered = prefilterIndexStats && this.windows.length >= prefilterMinWindows;
    const isCounted = this.#canCount && (historyRevalidate > 0 || isFiltered);
    const skipsEmpty = isEmptyWithoutLines && isFiltered;
    const lines = isCounted ? await this.#count(sealed, readings) : [];
    const places = new Map(sealed.map((window, place) => [window, place]));
    const keyOf = ({ startMs, endMs }: TimeWindow, version: string, ttlMs: number): KeepKey => ({
      text: `${this.question}:${startMs}-${endMs}:${version}`,
      ttlMs,
    });
    return windows.map((window): KnownWindow => {
      const place = places.get(window);
      if (place === undefined) {
        const isKept = options.recentCacheTtl > 0 && window.endMs <= this.#nowMs;
        const key = isKept ? keyOf(window, 'recent', options.recentCacheTtl) : undefined;
        return { ...window, key, isEmpty: false, lines: undefined };
      }
      const own = lines[place];
      const sum = own?.reduce((all, count) => all + count, 0);
      if (historyRevalidate > 0 && own === undefined)
        return { ...window, key: undefined, isEmpty: false, lines: sum };
      const version = historyRevalidate > 0 ? (own ?? []).join('+') : '-';
      const isEmpty = skipsEmpty && sum === 0;
      return { ...window, key: keyOf(window, version, options.historyCacheTtl), isEmpty, lines: sum };
    });
  }

  async #count(
    windows: readonly TimeWindow[],
    readings: readonly SelectorRead[],
  ): Promise<readonly (readonly number[] | undefined)[]> {
    const { counts, host, options } = this.#deps;
    const { meters, clock } = host;
    if (windows.length === 0) return [];
    const startedMs = clock.monotonicMs();
    const counter: LineCounter = {
      count: (matchers, bucketMs, firstMs, lastMs) =>
        this.#counts(matchers, bucketMs, [firstMs, lastMs], { windows: windows.length }),
      keyOf: (matchers, bucketMs) => this.#countKey(matchers, bucketMs),
    };
    meters.window_prefilter_attempt_total.add(1, {});
    try {
      const lines = await counts.of(windows, readings, counter);
      const holding = lines.filter((own) => own === undefined || own.some((count) => count > 0)).length;
      meters.window_prefilter_kept_total.add(holding, {});
      meters.window_prefilter_hit_ratio.set(holding / windows.length, {});
      const known = lines.flatMap((own) => own ?? []);
      this.#expensive =
        options.streamAwareBatching &&
        known.reduce((sum, count) => sum + count, 0) > options.expensiveHitThreshold * windows.length;
      return lines;
    } catch (error) {
      if (this.signal.aborted) throw error;
      // The counts only save reads. Without them every window is read, and windows whose key needs counts are not cached.
      meters.window_prefilter_error_total.add(1, {});
      this.#canCount = false;
      return [];
    } finally {
      meters.window_prefilter_duration_seconds.observe((clock.monotonicMs() - startedMs) / 1000, {});
    }
  }

  /** A key of everything that an answer depends on. */
  #questionOf(request: QueryRangeRequest): string {
    const question = this.#deps.keys(this.#exchange.derive({ request }));
    if (question === undefined) throw new Error('answers to range queries are never kept');
    return question;
  }

  /** A key that is equal for counts of the same rows in buckets of the same length. */
  #countKey(matchers: readonly Matcher[], bucketMs: number): string {
    return this.#questionOf(countRequest(matchers, bucketMs, 0, 0));
  }

  /**
   * True if this is requested for the first time, over so many rows that the answer will rely on assumptions: its windows would not be
   * cached, and requesting it as a whole is faster.
   */
  async isFirstOfMany(readings: readonly SelectorRead[]): Promise<boolean> {
    const { asked, densities, options } = this.#deps;
    const { range } = this.#request;
    if (this.#assumptions === undefined || asked.get(this.question) !== undefined) return false;
    asked.set(this.question, true, 2 * this.question.length, options.historyCacheTtl);
    const [firstMs, lastMs] = [Number(range.startNs / msNs), Number(range.endNs / msNs)];
    const totals = await Promise.all(
      readings.map(async ({ matchers }) => {
        const key = this.#countKey(matchers, 1);
        const density = densities.get(key);
        if (density !== undefined) return density * (lastMs - firstMs);
        const counts = await this.#counts(matchers, lastMs - firstMs, [firstMs, lastMs], { isTotal: true });
        const total = [...counts.values()].reduce((sum, rows) => sum + rows, 0);
        // A moment without length says nothing about others.
        if (lastMs > firstMs) densities.set(key, total / (lastMs - firstMs), 2 * key.length, densityMs);
        return total;
      }),
    );
    return totals.some((rows) => this.#assumptions?.allows(rows, range) === true);
  }

  async #counts(
    matchers: readonly Matcher[],
    bucketMs: number,
    [firstMs, lastMs]: readonly [number, number],
    { isTotal = false, windows = 1 },
  ): Promise<ReadonlyMap<number, number>> {
    const request = countRequest(matchers, bucketMs, firstMs, lastMs);
    const plan = { kind: 'line-counts', selectors: [matchers], isTotal } as const;
    return countsOf(await this.readMatrix({ request, windows, plan }));
  }

  skipped(): void {
    this.#deps.host.meters.window_prefilter_skipped_total.add(1, {});
  }

  /** Splits adjacent windows into as many groups as may be read in parallel. In adaptive mode, few lines are read in fewer groups. */
  divided<Slot extends { readonly window: KnownWindow }>(run: readonly Slot[]): readonly (readonly Slot[])[] {
    const { expensiveMaxParallel, adaptiveParallel } = this.#deps.options;
    const { current } = this.#deps.parallelism;
    const lines = run.reduce((sum, { window }) => sum + (window.lines ?? linesOfRead), 0);
    const useful = adaptiveParallel ? Math.ceil(lines / linesOfRead) : current;
    const allowed = this.#expensive ? Math.min(expensiveMaxParallel, current) : current;
    const groups = Math.max(1, Math.min(run.length, allowed, useful));
    const size = Math.ceil(run.length / groups);
    return Array.from({ length: Math.ceil(run.length / size) }, (_none, index) =>
      run.slice(index * size, (index + 1) * size),
    );
  }

  async inParallel<Part>(
    parts: readonly Part[],
    run: (part: Part, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    await inParallel(parts, this.#deps.parallelism.current, run, this.signal);
  }

  async readMatrix(read: Read, signal?: AbortSignal): Promise<MatrixAnswer> {
    const answer = await this.#read(read, signal);
    if (answer.kind !== 'matrix') throw new FallBackToWholeRange();
    if (answer.isProvisional === true) this.#assumed = answer.warnings;
    else if (answer.warnings.length > 0) throw new FallBackToWholeRange();
    return answer;
  }

  async readStreams(read: Read): Promise<StreamsAnswer> {
    const answer = await this.#read(read);
    if (answer.kind !== 'streams' || answer.warnings.length > 0) throw new FallBackToWholeRange();
    return answer;
  }

  /**
   * Reads adjacent windows with one call. After a failure they are read again one by one, until enough has been read; if answers may be
   * partial, windows that fail again are left out.
   */
  async readRun<Slot, Value>(
    run: readonly Slot[],
    signal: AbortSignal,
    read: (slots: readonly Slot[]) => Promise<Value>,
    isEnough: (value: Value) => boolean = () => false,
  ): Promise<readonly Value[]> {
    const mayGoOn = (error: unknown): boolean =>
      isTrouble(error) && !signal.aborted && !(error instanceof FallBackToWholeRange);
    let trouble: unknown;
    try {
      return [await read(run)];
    } catch (error) {
      if (!mayGoOn(error)) throw error;
      trouble = error;
    }
    const { host, options } = this.#deps;
    host.meters.window_degraded_batch_total.add(1, {});
    host.meters.window_retry_total.add(run.length, {});
    const values: Value[] = [];
    for (const slot of run) {
      try {
        const value = await read([slot]);
        values.push(value);
        if (isEnough(value)) break;
      } catch (error) {
        if (!mayGoOn(error)) throw error;
        // The first failure is more specific: by now the circuit breaker may be open.
        if (!options.partialResponses) throw trouble;
        this.#failed += 1;
      }
    }
    return values;
  }
}

/** The request that identifies the windows: windows have times of their own, and those of logs are cached without a limit. */
function keptAs(request: QueryRangeRequest): QueryRangeRequest {
  const anyTime = { ...request, range: { startNs: 0n, endNs: 0n }, limit: 0, part: 'window' } as const;
  return request.query.ast.kind === 'log'
    ? { ...anyTime, stepNs: 0n }
    : { ...anyTime, direction: 'backward' };
}

/** A request for the number of rows of streams by bucket: the first bucket starts at the first time, the last one ends at the last. */
function countRequest(
  matchers: readonly Matcher[],
  bucketMs: number,
  firstMs: number,
  lastMs: number,
): QueryRangeRequest {
  return {
    op: 'query_range',
    query: new Query(printSelector({ matchers }), 'accept'),
    range: { startNs: BigInt(firstMs) * msNs, endNs: BigInt(lastMs) * msNs },
    stepNs: BigInt(bucketMs) * msNs,
    limit: 1,
    direction: 'backward',
    intervalNs: 0n,
    part: 'count',
  };
}

/** The counts by the start of their bucket in Unix milliseconds. */
function countsOf({ series }: MatrixAnswer): ReadonlyMap<number, number> {
  const points = series.flatMap((each) => each.points);
  return new Map(points.map(({ timestampMs, value }) => [timestampMs, value]));
}
