import type { TimeRange } from '../../base/time/range.js';
import type { Direction } from '../api/request.js';

const hourNs = 3_600_000_000_000n;

/**
 * Selects the entries of a log query that the parameter `interval` keeps: entries at least an interval after the last kept one, whatever
 * their stream. Loki evaluates each clock hour separately, so the first entry of an hour is always kept.
 */
export class IntervalFilter {
  readonly #intervalNs: bigint;
  readonly #direction: Direction;
  #last: bigint | undefined;

  /** @param intervalNs 0 keeps all */
  constructor(intervalNs: bigint, direction: Direction) {
    this.#intervalNs = intervalNs;
    this.#direction = direction;
  }

  /** True if the next entry, in the direction, is kept. */
  takes(timestampNs: bigint): boolean {
    if (this.#intervalNs === 0n) return true;
    const last = this.#last;
    if (last !== undefined && hourOf(last) === hourOf(timestampNs)) {
      const distance = this.#direction === 'forward' ? timestampNs - last : last - timestampNs;
      if (distance < this.#intervalNs) return false;
    }
    this.#last = timestampNs;
    return true;
  }

  /** The part of a range that contains the next kept entry; it may be empty. */
  rest({ startNs, endNs }: TimeRange): TimeRange {
    const last = this.#last;
    if (last === undefined) return { startNs, endNs };
    const hour = hourOf(last);
    if (this.#direction === 'forward') {
      const due = last + this.#intervalNs;
      return { startNs: due < hour + hourNs ? due : hour + hourNs, endNs };
    }
    const due = last - this.#intervalNs + 1n;
    return { startNs, endNs: due > hour ? due : hour };
  }
}

/** The start of the clock hour. */
function hourOf(timestampNs: bigint): bigint {
  const intoHour = timestampNs % hourNs;
  return timestampNs - (intoHour < 0n ? intoHour + hourNs : intoHour);
}
