import type { BackendGauges, Gauges, GaugesState } from './gauges.js';

type Counter = 'limitReached' | 'limitTimeouts';

/**
 * Combines the gauges of a cluster's processes into those of one backend. Queries and their limits are those of the selectors, added up:
 * storage nodes do not count queries from selectors. Memory is that of the process with the smallest free share, since a query needs all
 * processes. If a process becomes silent, the whole is silent; a process that never answered, or not for a long time, is ignored.
 */
export class ClusterGauges implements Gauges {
  readonly #processes: readonly Gauges[];
  /** The gauges that the current state was computed from. */
  #parts: readonly (BackendGauges | undefined)[] = [];
  #state: GaugesState = { kind: 'unknown' };
  readonly #reached: RisingSum;
  readonly #timeouts: RisingSum;

  constructor(processes: readonly Gauges[]) {
    this.#processes = processes;
    this.#reached = new RisingSum('limitReached');
    this.#timeouts = new RisingSum('limitTimeouts');
  }

  async fresh(maxAgeMs: number): Promise<GaugesState> {
    await Promise.all(this.#processes.map((process) => process.fresh(maxAgeMs)));
    return this.state;
  }

  get state(): GaugesState {
    const states = this.#processes.map(({ state }) => state);
    if (states.some(({ kind }) => kind === 'silent')) return { kind: 'silent' };
    const parts = states.map((state) => (state.kind === 'known' ? state.gauges : undefined));
    // An unchanged reading is the same object, which distinguishes it from a new one.
    if (parts.some((part, index) => part !== this.#parts[index])) {
      this.#parts = parts;
      this.#state = this.#joined();
    }
    return this.#state;
  }

  #joined(): GaugesState {
    const known = this.#parts.filter((part) => part !== undefined);
    if (known.length === 0) return { kind: 'unknown' };
    const selectors = known.filter(({ isSelector }) => isSelector);
    const asked = selectors.length > 0 ? selectors : known;
    const gauges = {
      selects: sum(asked.map(({ selects }) => selects)),
      capacity: sum(asked.map(({ capacity }) => capacity)),
      limitReached: this.#reached.of(this.#parts),
      limitTimeouts: this.#timeouts.of(this.#parts),
      ...memoryOf(known),
      isSelector: selectors.length > 0,
    };
    return { kind: 'known', gauges };
  }
}

/** The sum of the increases of several processes' counters, which restarts and absences do not affect. */
class RisingSum {
  readonly #name: Counter;
  readonly #last = new Map<number, number>();
  #sum = 0;

  constructor(name: Counter) {
    this.#name = name;
  }

  of(parts: readonly (BackendGauges | undefined)[]): number {
    for (const [permit, part] of parts.entries()) {
      const value = part?.[this.#name];
      if (value === undefined) continue;
      this.#sum += Math.max(0, value - (this.#last.get(permit) ?? value));
      this.#last.set(permit, value);
    }
    return this.#sum;
  }
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((all, value) => all + value, 0);
}

/**
 * Memory in bytes of the process with the smallest free share: shares of different processes are comparable from one reading to the next,
 * bytes are not.
 */
function memoryOf(known: readonly BackendGauges[]): Pick<BackendGauges, 'memoryUsed' | 'memoryAvailable'> {
  let [share, smallest] = [0, Infinity];
  for (const { memoryUsed, memoryAvailable } of known) {
    if (memoryUsed === undefined || memoryAvailable === undefined || memoryAvailable <= 0) continue;
    share = Math.max(share, memoryUsed / memoryAvailable);
    smallest = Math.min(smallest, memoryAvailable);
  }
  const isTold = smallest !== Infinity;
  return {
    memoryUsed: isTold ? share * smallest : undefined,
    memoryAvailable: isTold ? smallest : undefined,
  };
}
