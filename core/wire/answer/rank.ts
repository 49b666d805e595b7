import { textOrder } from '../../base/order.js';

/** Number of times that a listed value was seen, and the last time, in Unix milliseconds. */
export interface Heat {
  readonly seen: number;
  readonly lastMs: number;
}

export interface RankedName extends Heat {
  readonly value: string;
}

export const neverSeen: Heat = { seen: 0, lastMs: 0 };

/** Orders names by heat: the most frequent first, then the most recent, then by name (docs/protocol/requests.md#browsing-label-values). */
export function byRank(a: RankedName, b: RankedName): number {
  return byHeat(a, b) || textOrder(a.value, b.value);
}

export function byHeat(a: Heat, b: Heat): number {
  return b.seen - a.seen || b.lastMs - a.lastMs;
}
