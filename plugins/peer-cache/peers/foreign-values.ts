import type { Clock } from '../../../core/base/clock.js';
import { ByteLru } from '../../../core/base/memory/byte-lru.js';

const maxEntries = 1_024;
const maxBytes = 16 * 1024 * 1024;
const maxTtlMs = 86_400_000;

interface Kept {
  readonly value: Buffer;
  readonly untilMs: number;
}

/**
 * Values that somebody with the token has set and no replica has framed: kept as they are and given back to who asks for them by hand, or
 * to other programs. No request is ever answered from them.
 */
export class ForeignValues {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #kept: ByteLru<Kept>;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#kept = new ByteLru({ maxEntries, maxBytes, clock });
  }

  set(key: string, value: Buffer, ttlMs: number): void {
    const keptMs = Math.min(ttlMs, maxTtlMs);
    const untilMs = this.#clock.monotonicMs() + keptMs;
    this.#kept.set(key, { value, untilMs }, value.byteLength, keptMs);
  }

  get(key: string): { readonly value: Buffer; readonly leftMs: number } | undefined {
    const kept = this.#kept.get(key);
    return kept && { value: kept.value, leftMs: kept.untilMs - this.#clock.monotonicMs() };
  }

  clear(): void {
    this.#kept.clear();
  }
}
