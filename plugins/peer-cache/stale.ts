import { createFingerprint, type Fingerprint } from '../../core/cache/fingerprint.js';
import type { Kept } from '../../core/cache/answer-store.js';
import { isOutage } from '../../core/victoria/upstream/failures.js';
import type { CacheableAnswer } from '../../core/wire/answer/packed.js';
import type { PeerCacheOptions } from '../../core/base/options.gen.js';
import { withHeaders, type Answer, type Exchange, type Host } from '../../core/plugin/index.js';

export const staleMetrics = {
  stale_answers_total: {
    type: 'counter',
    help: 'Expired answers that were served because the backend could not be reached or failed.',
  },
} as const;

const warning = 'the backend is unavailable: this answer was kept from before and may be out of date';
const headers = { 'X-Proxy-Stale-Response': 'true', 'Cache-Control': 'no-store' };
/** Least time between two log records. */
const logEveryMs = 60_000;

/** Decides when an expired answer is better than an error. */
export class StaleAnswers {
  readonly #fingerprint: Fingerprint;
  readonly #host: Host<typeof staleMetrics>;
  #logAtMs = -Infinity;

  constructor(options: PeerCacheOptions, host: Host<typeof staleMetrics>) {
    this.#fingerprint = createFingerprint(options);
    this.#host = host;
  }

  /** Whether an expired answer may replace this error; the store has none that is too old. */
  mayReplace(error: unknown, { caller, signal }: Exchange<'tenant'>): boolean {
    // With forwarded credentials only the backend knows whether the caller may still see the answer.
    const isAllowed = !signal.aborted && this.#fingerprint(caller.headers) === undefined;
    return isAllowed && isOutage(error);
  }

  mark(answer: CacheableAnswer, { expiredMs }: Kept, error: unknown, exchange: Exchange<'tenant'>): Answer {
    const { clock, log, meters } = this.#host;
    meters.stale_answers_total.add(1, {});
    const nowMs = clock.monotonicMs();
    if (nowMs >= this.#logAtMs) {
      this.#logAtMs = nowMs + logEveryMs;
      log.warn('serving stale cached response after backend failure', {
        'cache.expired_ms': expiredMs,
        error,
      });
    }
    return withHeaders(exchange, { ...answer, warnings: [...answer.warnings, warning] }, headers);
  }
}
