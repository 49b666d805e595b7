import { getHeapStatistics } from 'node:v8';
import { apiError } from '../errors/table.js';
import type { Meters } from '../meters.js';

/** The purpose of held memory, worded as in the error that refuses more of it. */
export type MemoryUse =
  | 'the labels of series'
  | 'samples by series and time'
  | 'the values of series'
  | 'the points of the answer'
  | 'log lines'
  | 'a listing of the backend'
  | 'statistics of the backend'
  | 'samples of patterns'
  | 'the values of fields'
  | 'windows that were kept'
  | 'listings that were kept'
  | 'the bytes of the answer';

/** The pool that accounts draw from: it bounds the memory of all queries of the process together. */
export interface MemorySource {
  readonly limit: number;
  readonly held: number;
  /** Returns false when not enough is left. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
  refused(reason: 'query' | 'process'): void;
  closed(peakBytes: number): void;
}

/** Accounts take memory from the pool in pieces, so that most charges are an addition and a comparison. */
const pieceBytes = 256 * 1024;

/**
 * The estimated memory of one query. Code that creates something lasting charges it first and releases it when it is dropped. All work of
 * one request shares an account; work that outlives the request retains it.
 */
export class MemoryAccount {
  readonly #limit: number;
  readonly #pool: MemorySource | undefined;
  readonly #byKind = new Map<MemoryUse, number>();
  #used = 0;
  #peak = 0;
  /** Bytes that may be used without asking the pool again. */
  #granted = 0;
  #holders = 1;

  /** @param limit in bytes; 0 means unlimited */
  constructor(limit: number, pool?: MemorySource) {
    this.#limit = limit > 0 ? limit : Infinity;
    this.#pool = pool;
  }

  get used(): number {
    return this.#used;
  }

  get peak(): number {
    return this.#peak;
  }

  /** In bytes; 0 means unlimited. */
  get limit(): number {
    return this.#limit === Infinity ? 0 : this.#limit;
  }

  /** Bytes held now, by kind. */
  get held(): ReadonlyMap<MemoryUse, number> {
    return this.#byKind;
  }

  /** @throws ApiError `queryMemory` over the limit of one query, `processMemory` over the limit of all queries together */
  charge(bytes: number, kind: MemoryUse): void {
    this.#used += bytes;
    this.#byKind.set(kind, (this.#byKind.get(kind) ?? 0) + bytes);
    if (this.#used > this.#peak) this.#peak = this.#used;
    if (this.#used > this.#granted) this.#grow(kind);
  }

  release(bytes: number, kind: MemoryUse): void {
    this.#used -= bytes;
    this.#byKind.set(kind, (this.#byKind.get(kind) ?? 0) - bytes);
    const spare = Math.floor((this.#granted - this.#used) / pieceBytes) - 1;
    if (spare >= 4) this.#giveBack(spare * pieceBytes);
  }

  /** Replaces everything charged so far by `bytes` of this kind. */
  keepOnly(bytes: number, kind: MemoryUse): void {
    const before = this.#used;
    this.#byKind.clear();
    this.#byKind.set(kind, before);
    if (bytes > before) this.charge(bytes - before, kind);
    else this.release(before - bytes, kind);
  }

  /** An empty account with the same limits, for independent work. */
  another(): MemoryAccount {
    return new MemoryAccount(this.#limit, this.#pool);
  }

  /** Keeps the account open for work that outlives the request; needs one more `close`. */
  retain(): void {
    if (this.#holders > 0) this.#holders += 1;
  }

  /** The last holder to close releases everything. */
  close(): void {
    this.#holders -= 1;
    if (this.#holders !== 0) return;
    this.#pool?.closed(this.#peak);
    this.#giveBack(this.#granted);
    this.#used = 0;
    this.#byKind.clear();
  }

  #grow(kind: MemoryUse): void {
    if (this.#used > this.#limit) {
      this.#pool?.refused('query');
      throw apiError('queryMemory', { limit: this.#limit, kind, most: this.#most() });
    }
    const wanted = Math.ceil((this.#used - this.#granted) / pieceBytes) * pieceBytes;
    if (this.#pool !== undefined && this.#holders > 0 && !this.#pool.take(wanted)) {
      this.#pool.refused('process');
      throw apiError('processMemory', { limit: this.#pool.limit, held: this.#pool.held, kind });
    }
    this.#granted += wanted;
  }

  #giveBack(bytes: number): void {
    this.#granted -= bytes;
    this.#pool?.giveBack(bytes);
  }

  #most(): MemoryUse {
    let most: MemoryUse = 'the labels of series';
    for (const [kind, bytes] of this.#byKind) if (bytes > (this.#byKind.get(most) ?? 0)) most = kind;
    return most;
  }
}

/** For work outside any request. */
export function unboundedMemory(): MemoryAccount {
  return new MemoryAccount(0);
}

/**
 * Per-object data that one module keeps for objects of another one, in a property under a private symbol.
 *
 * A WeakMap would do the same, but its table soon moves to V8's old space. From there it keeps all values, and everything they reference,
 * alive until the next full collection, so that the collector copies, marks and sweeps them.
 */
export class Attached<Value> {
  readonly #name = Symbol('attached');

  get(to: object): Value | undefined {
    return (to as Record<symbol, Value | undefined>)[this.#name];
  }

  set(to: object, value: Value): void {
    (to as Record<symbol, Value | undefined>)[this.#name] = value;
  }
}

/** The same function, which computes the value of each object once. */
export function oncePerObject<Source extends object, Value>(
  derive: (from: Source) => Value,
): (from: Source) => Value {
  const known = new Attached<{ readonly value: Value }>();
  return (from) => {
    const before = known.get(from);
    if (before !== undefined) return before.value;
    const value = derive(from);
    known.set(from, { value });
    return value;
  };
}

export const memoryMetrics = {
  query_memory_bytes: {
    type: 'gauge',
    help: 'Estimated memory reserved for running queries (-max-query-memory).',
  },
  query_memory_limit_bytes: {
    type: 'gauge',
    help: 'Memory limit for all running queries together, a share of the JavaScript heap limit.',
  },
  query_memory_peak_bytes: {
    type: 'histogram',
    help: 'Estimated peak memory per query.',
    buckets: [16_384, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864, 134_217_728, 268_435_456],
  },
  query_memory_refusals_total: {
    type: 'counter',
    help: 'Queries refused because they would exceed -max-query-memory or, with other queries, the memory limit of the process.',
    labels: ['reason'],
  },
} as const;

/** Heap used by the program itself and by short-lived objects. */
const programBytes = 96 * 1024 * 1024;
/** The share of the remaining heap that queries may fill. The rest is for unestimated data: rows in transit, learned data, garbage. */
const queryShare = 0.5;
/** The share of the remaining heap that all answer caches may fill together. */
const cacheShare = 0.2;
/** Lower bound: with less, the process could not do anything useful. */
const minBytes = 8 * 1024 * 1024;

/** The heap size limit of this process (`--max-old-space-size`, or what Node.js chose from the host's memory). */
export function heapLimit(): number {
  return getHeapStatistics().heap_size_limit;
}

/** The bytes that all answer caches may hold: the configured size, unless the heap is too small for it. */
export function cacheBudget(configured: number, heap: number = heapLimit()): number {
  return Math.min(configured, shareOf(heap, cacheShare));
}

function shareOf(heap: number, share: number): number {
  return Math.max(minBytes, Math.floor((heap - programBytes) * share));
}

interface PoolOptions {
  /** Limit of one query in bytes; 0 means unlimited. */
  readonly maxQueryBytes: number;
  readonly meters?: Meters<typeof memoryMetrics>;
  /** The heap size limit in bytes. */
  readonly heap?: number;
}

/** The memory pool of all running queries of the process. */
export class MemoryPool implements MemorySource {
  /** The most that all queries together may hold, in bytes. */
  readonly limit: number;
  #maxQueryBytes: number;
  readonly #meters: Meters<typeof memoryMetrics> | undefined;
  #held = 0;

  constructor({ maxQueryBytes, meters, heap = heapLimit() }: PoolOptions) {
    this.limit = shareOf(heap, queryShare);
    this.#maxQueryBytes = maxQueryBytes;
    this.#meters = meters;
    meters?.query_memory_limit_bytes.set(this.limit, {});
    meters?.query_memory_bytes.set(0, {});
  }

  /** Sets the limit of queries that begin from now on; 0 means unlimited. */
  holdQueriesTo(maxQueryBytes: number): void {
    this.#maxQueryBytes = maxQueryBytes;
  }

  get held(): number {
    return this.#held;
  }

  /** Opens the account of one request. */
  open(): MemoryAccount {
    return new MemoryAccount(this.#maxQueryBytes, this);
  }

  /** Returns false when not enough is left. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.limit) return false;
    this.#held += bytes;
    this.#meters?.query_memory_bytes.set(this.#held, {});
    return true;
  }

  giveBack(bytes: number): void {
    this.#held -= bytes;
    this.#meters?.query_memory_bytes.set(this.#held, {});
  }

  refused(reason: 'query' | 'process'): void {
    this.#meters?.query_memory_refusals_total.add(1, { reason });
  }

  closed(peakBytes: number): void {
    this.#meters?.query_memory_peak_bytes.observe(peakBytes, {});
  }
}
