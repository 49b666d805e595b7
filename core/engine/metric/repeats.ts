import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, textBytes } from '../../base/memory/sizes.js';
import type { LogRow } from '../../victoria/names/row-reader.js';

type Lines = string | Set<string>;

/** Detects rows that were pushed to a stream before with the same line and time: Loki keeps one entry of them. */
export class Repeats {
  /** Lines by stream and time, in nanoseconds since the first row. */
  readonly #streams = new Map<string, Map<number, Lines>>();
  #originNs: bigint | undefined;
  readonly #memory: MemoryAccount;
  #held = 0;

  constructor(memory: MemoryAccount) {
    this.#memory = memory;
  }

  /** Whether the row is already known; rows may come in any order. */
  isRepeated({ stream, timestampNs, line }: Pick<LogRow, 'stream' | 'timestampNs' | 'line'>): boolean {
    this.#originNs ??= timestampNs;
    // Exact to the nanosecond within 104 days; windows of rows are far shorter, or hold almost nothing.
    const at = Number(timestampNs - this.#originNs);
    const { key } = stream.labels;
    let times = this.#streams.get(key);
    if (times === undefined) this.#streams.set(key, (times = new Map<number, Lines>()));
    const lines = times.get(at);
    if (lines === undefined) {
      this.#hold(line);
      times.set(at, line);
      return false;
    }
    if (typeof lines === 'string') {
      if (lines === line) return true;
      this.#hold(line);
      times.set(at, new Set([lines, line]));
      return false;
    }
    if (lines.has(line)) return true;
    this.#hold(line);
    lines.add(line);
    return false;
  }

  /** Forgets everything, before a stretch of time that does not overlap the previous one. */
  clear(): void {
    this.#streams.clear();
    this.#originNs = undefined;
    this.#memory.release(this.#held, 'log lines');
    this.#held = 0;
  }

  #hold(line: string): void {
    const bytes = entryBytes + textBytes(line);
    this.#held += bytes;
    this.#memory.charge(bytes, 'log lines');
  }
}
