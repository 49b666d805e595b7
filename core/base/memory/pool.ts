import { getHeapStatistics } from 'node:v8';
import type { Meters } from '../meters.js';
import { MemoryAccount, type MemorySource } from './account.js';

export const memoryMetrics = {
  query_memory_bytes: {
    type: 'gauge',
    help: 'Memory set aside for running queries, as it is estimated (-max-query-memory).',
  },
  query_memory_limit_bytes: {
    type: 'gauge',
    help: 'Memory that all running queries together may hold: a share of what the JavaScript heap may grow to.',
  },
  query_memory_peak_bytes: {
    type: 'histogram',
    help: 'The most that a query held, as it is estimated.',
    buckets: [16_384, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864, 134_217_728, 268_435_456],
  },
  query_memory_refusals_total: {
    type: 'counter',
    help: 'Queries refused for the memory that they need: over -max-query-memory, or with others over what the process may hold.',
    labels: ['reason'],
  },
} as const;

/** What the program itself takes of the heap, and objects that are just made. */
const programBytes = 96 * 1024 * 1024;
/** The part of the rest that queries may fill. What remains is for what is not estimated: rows on their way, what was learned, garbage. */
const queryShare = 0.5;
/** The part of it that the caches of answers may fill together. */
const cacheShare = 0.2;
/** Below this a process could do nothing. */
const leastBytes = 8 * 1024 * 1024;

/** How far the heap of this process may grow (`--max-old-space-size`, or what Node.js chose by the memory of the host). */
export function heapLimit(): number {
  return getHeapStatistics().heap_size_limit;
}

/** The bytes that the caches of answers may hold: what is configured, unless the heap is too small for it. */
export function cacheBudget(configured: number, heap: number = heapLimit()): number {
  return Math.min(configured, shareOf(heap, cacheShare));
}

function shareOf(heap: number, share: number): number {
  return Math.max(leastBytes, Math.floor((heap - programBytes) * share));
}

export interface PoolOptions {
  /** Bytes of one query; 0 is no bound. */
  readonly maxQueryBytes: number;
  readonly meters?: Meters<typeof memoryMetrics>;
  /** Bytes that the heap may grow to. */
  readonly heap?: number;
}

/** The memory of all running queries of the process. */
export class MemoryPool implements MemorySource {
  /** Bytes that all queries together may hold. */
  readonly limit: number;
  readonly #maxQueryBytes: number;
  readonly #meters: Meters<typeof memoryMetrics> | undefined;
  #held = 0;

  constructor({ maxQueryBytes, meters, heap = heapLimit() }: PoolOptions) {
    this.limit = shareOf(heap, queryShare);
    this.#maxQueryBytes = maxQueryBytes;
    this.#meters = meters;
    meters?.query_memory_limit_bytes.set(this.limit, {});
    meters?.query_memory_bytes.set(0, {});
  }

  get held(): number {
    return this.#held;
  }

  /** An account for one request. */
  open(): MemoryAccount {
    return new MemoryAccount(this.#maxQueryBytes, this);
  }

  /** False when there is no room for so much. */
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
