import type { TimeRange } from '../base/time/range.js';

/** The assumptions that an answer may rest on, in the words of its warning. */
const assumable = {
  'no-repeats': 'no row was pushed twice',
  'sampled-lines': 'lines are like a sample of them',
  'plain-values': 'no line or value is one that Loki and VictoriaLogs read differently',
} as const;
type Assumption = keyof typeof assumable;

const nsPerMs = 1_000_000n;

/**
 * The assumptions of one request (`-first-answers=prompt`). An answer that rests on any of them is provisional: it carries a warning, no cache
 * keeps it, and the facts are proven afterwards.
 */
export class Assumptions {
  readonly #maxRows: number;
  readonly #rangeMs: number;
  /** Each with the keys of what is to be proven. */
  readonly #made = new Map<Assumption, Set<string>>();

  /**
   * @param maxRows the most rows, over the whole range of the request, that a proof may look at while the client waits
   * @param range of the whole request, of which parts may be read one by one
   */
  constructor(maxRows: number, range: TimeRange) {
    this.#maxRows = maxRows;
    this.#rangeMs = millisecondsOf(range);
  }

  /** True if these rows are too many to check them while the client waits. The rest of the request is taken to have as many rows as this part. */
  allows(rows: number, part: TimeRange): boolean {
    const share = Math.max(1, this.#rangeMs / Math.max(1, millisecondsOf(part)));
    return rows * share > this.#maxRows;
  }

  /** @param key of what is to be proven: the owner of the rows and their selection among others */
  make(assumption: Assumption, key: string): void {
    const keys = this.#made.get(assumption) ?? new Set();
    this.#made.set(assumption, keys.add(key));
  }

  /** Identifies what is to be proven; undefined where nothing was assumed. */
  get key(): string | undefined {
    if (this.#made.size === 0) return undefined;
    return JSON.stringify([...this.#made].map(([assumption, keys]) => [assumption, ...[...keys].sort()]));
  }

  /** Tells clients what was assumed; empty where nothing was. */
  get warnings(): readonly string[] {
    if (this.#made.size === 0) return [];
    const texts = [...this.#made.keys()].sort().map((assumption) => assumable[assumption]);
    return [
      `first answer, made before all rows were checked: it assumes that ${texts.join(', and that ')}; ` +
        'once they are checked, in some seconds, the next refresh shows the exact one (-first-answers=exact waits for it)',
    ];
  }
}

function millisecondsOf({ startNs, endNs }: TimeRange): number {
  return Number((endNs - startNs) / nsPerMs);
}

declare module '../kernel/plugin/slots.js' {
  interface Slots {
    /** The assumptions that the answer may rest on (translate). Optional for all stages: without this slot all facts are proven first. */
    assumptions: Assumptions;
  }
}
