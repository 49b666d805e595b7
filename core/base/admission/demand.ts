/** Windows are as long as a burst that is to count as one. */
const windowMs = 1_000;
/** Callers choose the names; who comes when so many have asked is not counted. */
const maxNames = 1_000;

type Counts = Map<string | object, number>;

/** How often each party has asked in this window and the one before, refused requests included. */
export class Demand {
  readonly #nowMs: () => number;
  #window = 0;
  #now: Counts = new Map();
  #before: Counts = new Map();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts a request of this party. */
  count(name: string | object): void {
    this.#turn();
    const known = this.#now.get(name);
    if (known !== undefined || this.#now.size < maxNames) this.#now.set(name, (known ?? 0) + 1);
  }

  /** Whether no other party has asked more often. */
  isLargest(name: string | object): boolean {
    this.#turn();
    const own = this.#of(name);
    for (const counts of [this.#now, this.#before])
      for (const other of counts.keys()) if (this.#of(other) > own) return false;
    return true;
  }

  #of(name: string | object): number {
    return (this.#now.get(name) ?? 0) + (this.#before.get(name) ?? 0);
  }

  #turn(): void {
    const window = Math.floor(this.#nowMs() / windowMs);
    if (window === this.#window) return;
    this.#before = window === this.#window + 1 ? this.#now : new Map<string | object, number>();
    this.#now = new Map();
    this.#window = window;
  }
}
