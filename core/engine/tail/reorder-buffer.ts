import { logRowBytes } from '../../base/memory/sizes.js';
import type { TailLine } from './line-maker.js';

const maxBytes = 8 * 1024 * 1024;

interface Held {
  readonly line: TailLine;
  readonly foundMs: number;
}

/**
 * Lines that wait for older ones of their stream. The backend shows rows some time after they were pushed, and not in the order in which they
 * were pushed. That time is bounded: when it has passed since a line was found, all that was pushed before the line has become visible.
 * The times of the lines themselves are not used for this, because senders batch lines and their clocks differ.
 */
export class ReorderBuffer {
  /** In the order in which they were found. */
  #held: Held[] = [];
  #bytes = 0;

  get size(): number {
    return this.#held.length;
  }

  /** When it is full, its lines must be taken before more are added. */
  get isFull(): boolean {
    return this.#bytes >= maxBytes;
  }

  add(line: TailLine, foundMs: number): void {
    this.#held.push({ line, foundMs });
    this.#bytes += logRowBytes(line.entry);
  }

  /** Takes the lines found until a time, and lines of their streams that are older but were found later, all sorted by time. */
  take(foundUntilMs: number): readonly TailLine[] {
    const newest = new Map<string, bigint>();
    for (const { line, foundMs } of this.#held) {
      if (foundMs > foundUntilMs) break;
      const known = newest.get(line.stream);
      if (known === undefined || known < line.entry.timestampNs)
        newest.set(line.stream, line.entry.timestampNs);
    }
    if (newest.size === 0) return [];
    const [taken, left]: [TailLine[], Held[]] = [[], []];
    for (const held of this.#held) {
      const { line } = held;
      const untilNs = newest.get(line.stream);
      if (untilNs === undefined || line.entry.timestampNs > untilNs) left.push(held);
      else taken.push(line);
    }
    this.#held = left;
    this.#bytes = left.reduce((sum, { line }) => sum + logRowBytes(line.entry), 0);
    return taken.sort(byTime);
  }
}

function byTime({ entry: a }: TailLine, { entry: b }: TailLine): number {
  return a.timestampNs < b.timestampNs ? -1 : a.timestampNs > b.timestampNs ? 1 : 0;
}
