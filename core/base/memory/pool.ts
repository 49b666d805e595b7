import { getHeapStatistics } from 'node:v8';
import type { Meters } from '../meters.js';
import { MemoryAccount, type MemorySource } from './account.js';

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

export interface PoolOptions {
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
