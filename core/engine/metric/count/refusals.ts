import type { Memory } from '../../memory.js';

const keptMs = 600_000;

/** What statistics were asked for and turned out to have too many groups; for a while they are not asked for again. */
export class Refusals {
  readonly #memory: Memory<true>;

  constructor(memory: Memory<true>) {
    this.#memory = memory;
  }

  has(key: string): boolean {
    return this.#memory.get(key) === true;
  }

  add(key: string): void {
    this.#memory.set(key, true, 0, keptMs);
  }
}
