import { timeOrder } from '../../base/order.js';
import { logRowBytes } from '../../base/memory/byte-lru.js';
import type { TailLine } from './context.js';
import { msToNs } from './poll-windows.js';

const maxBytes = 8 * 1024 * 1024;

interface Held {
  readonly line: TailLine;
  readonly foundMs: number;
  /** Time until which older lines of other streams must have been found; undefined while the line waits for its own stream. */
  lastMs?: number | undefined;
}

/**
 * Holds lines until all older lines of their stream have arrived. The backend makes rows visible some time after they were pushed, and not
 * in that order. The delay is bounded: once it has passed since a line was found, everything pushed before that line is visible. The
 * timestamps of the lines are not used for this, because senders batch lines and their clocks differ.
 */
export class ReorderBuffer {
  /** Lines in the order in which they were found. */
  #held: Held[] = [];
  #bytes = 0;
  readonly #windowNs: bigint;

  /** @param reorderMs maximum time from the backend accepting a row until it is visible */
  constructor(reorderMs: number) {
    this.#windowNs = msToNs(reorderMs);
  }

  get size(): number {
    return this.#held.length;
  }

  /** True if lines must be taken before more are added. */
  get isFull(): boolean {
    return this.#bytes >= maxBytes;
  }

  add(line: TailLine, foundMs: number): void {
    this.#held.push({ line, foundMs });
    this.#bytes += logRowBytes(line.entry);
  }

  /**
   * Takes the lines found until a time, and older lines of their streams that were found later, all sorted by time. They also wait, once,
   * for older lines of other streams that have been found: a stream whose timestamps lag behind must not hold up the others.
   */
  take(foundUntilMs: number): readonly TailLine[] {
    const ripe = new Newest();
    const overdue = new Newest();
    const lastMs = this.#held.at(-1)?.foundMs ?? 0;
    for (const held of this.#held) {
      if (held.foundMs > foundUntilMs) break;
      held.lastMs ??= lastMs;
      ripe.add(held.line);
      if (held.lastMs <= foundUntilMs) overdue.add(held.line);
    }
    if (ripe.ofAll === undefined) return [];
    let oldestNs = ripe.ofAll;
    for (const { line } of this.#held) {
      const { timestampNs } = line.entry;
      // Streams that lag further behind are not in order with the others anyway.
      const isNear = ripe.ofAll - timestampNs < this.#windowNs;
      if (isNear && timestampNs < oldestNs && !ripe.includes(line)) oldestNs = timestampNs;
    }
    const isDue = (line: TailLine): boolean =>
      ripe.includes(line) && (line.entry.timestampNs <= oldestNs || overdue.includes(line));
    const [taken, left]: [TailLine[], Held[]] = [[], []];
    for (const held of this.#held) {
      if (isDue(held.line)) taken.push(held.line);
      else left.push(held);
    }
    this.#held = left;
    this.#bytes = left.reduce((sum, { line }) => sum + logRowBytes(line.entry), 0);
    return taken.sort(byTime);
  }
}

/** The newest timestamps by stream. */
class Newest {
  readonly #times = new Map<string, bigint>();
  /** The newest timestamp of all streams. */
  ofAll: bigint | undefined;

  add({ stream, entry: { timestampNs } }: TailLine): void {
    const known = this.#times.get(stream);
    if (known === undefined || known < timestampNs) this.#times.set(stream, timestampNs);
    if (this.ofAll === undefined || this.ofAll < timestampNs) this.ofAll = timestampNs;
  }

  /** True if a line is not newer than the newest line of its stream. */
  includes({ stream, entry: { timestampNs } }: TailLine): boolean {
    const newest = this.#times.get(stream);
    return newest !== undefined && timestampNs <= newest;
  }
}

function byTime({ entry: a }: TailLine, { entry: b }: TailLine): number {
  return timeOrder(a.timestampNs, b.timestampNs);
}
