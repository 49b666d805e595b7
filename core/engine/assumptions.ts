import type { TimeRange } from '../base/time/range.js';

/** The assumptions that an answer may rely on, with the texts of the warning. */
const assumable = {
  'no-repeats': 'there are no duplicate rows',
  'sampled-lines': 'all lines are like a sample of them',
  'plain-values': 'Loki and VictoriaLogs parse all lines and values the same',
} as const;
type Assumption = keyof typeof assumable;

const nsPerMs = 1_000_000n;

/**
 * The assumptions of one request (`-first-answers=prompt`). An answer that relies on any of them is provisional: it carries a warning, is
 * not cached, and the facts are proven afterwards.
 */
export class Assumptions {
  readonly #maxRows: number;
  readonly #rangeMs: number;
  /** The assumptions made, each with the keys of the facts to prove. */
  readonly #made = new Map<Assumption, Set<string>>();

  /**
   * @param maxRows maximum number of rows, over the whole range of the request, that a proof may inspect while the client waits
   * @param range range of the whole request, whose parts may be read separately
   */
  constructor(maxRows: number, range: TimeRange) {
    this.#maxRows = maxRows;
    this.#rangeMs = millisecondsOf(range);
  }

  /** True if these rows are too many to inspect while the client waits. The rest of the request is assumed to be as dense as this part. */
  allows(rows: number, part: TimeRange): boolean {
    const share = Math.max(1, this.#rangeMs / Math.max(1, millisecondsOf(part)));
    return rows * share > this.#maxRows;
  }

  /** @param key identifies the fact to prove, by the owner of the rows and their selection among others */
  make(assumption: Assumption, key: string): void {
    const keys = this.#made.get(assumption) ?? new Set();
    this.#made.set(assumption, keys.add(key));
  }

  /** Identifies the facts to prove; undefined if nothing was assumed. */
  get key(): string | undefined {
    if (this.#made.size === 0) return undefined;
    return JSON.stringify([...this.#made].map(([assumption, keys]) => [assumption, ...[...keys].sort()]));
  }

  /** Warnings that tell clients what was assumed; empty if nothing was. */
  get warnings(): readonly string[] {
    if (this.#made.size === 0) return [];
    const texts = [...this.#made.keys()].sort().map((assumption) => assumable[assumption]);
    return [
      `first answer, computed before all rows were checked: it assumes that ${texts.join(', and that ')}; ` +
        'the check takes some seconds, and the next refresh after it shows the exact answer (-first-answers=exact waits for it)',
    ];
  }
}

function millisecondsOf({ startNs, endNs }: TimeRange): number {
  return Number((endNs - startNs) / nsPerMs);
}

declare module '../kernel/plugin/slots.js' {
  interface Slots {
    /**
     * The assumptions that the answer may rely on (provided by translate). Optional for all stages: without this slot all facts are proven
     * first.
     */
    assumptions: Assumptions;
  }
}
