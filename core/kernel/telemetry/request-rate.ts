import type { LogFields } from '../../base/logger.js';
import type { Clock } from '../../base/clock.js';

/** Requests per second, from the current second and the remaining share of the previous one. */
export class RequestRate {
  #second = 0;
  #current = 0;
  #previous = 0;

  constructor(private readonly clock: Clock) {}

  count(): void {
    this.#roll();
    this.#current += 1;
  }

  perSecond(): number {
    const passed = this.#roll();
    return this.#current + this.#previous * (1 - passed);
  }

  /** Advances to the current second; returns the part of it that has passed. */
  #roll(): number {
    const seconds = this.clock.monotonicMs() / 1000;
    const second = Math.floor(seconds);
    if (second !== this.#second) {
      this.#previous = second === this.#second + 1 ? this.#current : 0;
      this.#current = 0;
      this.#second = second;
    }
    return seconds - second;
  }
}

/** Totals of the requests without a record of their own. Request types are route ids, so it stays small. */
export class RequestSummary {
  readonly #byType = new Map<string, number>();
  #count = 0;
  #totalMs = 0;
  #maxMs = 0;

  add(requestType: string, durationMs: number): void {
    this.#byType.set(requestType, (this.#byType.get(requestType) ?? 0) + 1);
    this.#count += 1;
    this.#totalMs += durationMs;
    this.#maxMs = Math.max(this.#maxMs, durationMs);
  }

  /** Returns the fields of the summary record and resets; undefined when there were no requests. */
  take(): LogFields | undefined {
    if (this.#count === 0) return undefined;
    const fields = {
      'requests.count': this.#count,
      'requests.by_type': Object.fromEntries(this.#byType),
      'requests.mean_duration_ms': Math.round((this.#totalMs / this.#count) * 1000) / 1000,
      'requests.max_duration_ms': Math.round(this.#maxMs * 1000) / 1000,
    };
    this.#byType.clear();
    this.#count = 0;
    this.#totalMs = 0;
    this.#maxMs = 0;
    return fields;
  }
}
