import { placeholder, type TokenizedLine } from './tokenize.js';

/** Lines of one shape: the tokens they share, and the number of lines per time bucket. */
export class Cluster {
  readonly #tokens: string[];
  readonly #join: TokenizedLine['join'];
  readonly #counts = new Map<number, number>();
  #size = 0;

  constructor({ tokens, join }: TokenizedLine) {
    this.#tokens = [...tokens];
    this.#join = join;
  }

  get size(): number {
    return this.#size;
  }

  /** Lines by bucket. */
  get counts(): ReadonlyMap<number, number> {
    return this.#counts;
  }

  /** The share of equal tokens at the same positions, and the number of open positions. */
  compare(tokens: readonly string[]): { readonly similarity: number; readonly open: number } {
    let same = 0;
    let open = 0;
    for (const [index, token] of this.#tokens.entries()) {
      if (token === placeholder) open += 1;
      else if (token === tokens[index]) same += 1;
    }
    return { similarity: same / this.#tokens.length, open };
  }

  /** Adds a line: positions where it differs become open. */
  take(tokens: readonly string[], bucket: number): void {
    for (const [index, token] of tokens.entries())
      if (this.#tokens[index] !== token) this.#tokens[index] = placeholder;
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
    this.#size += 1;
  }

  /** The text of the pattern; adjacent open positions are merged. */
  pattern(): string {
    return this.#join(this.#tokens).replace(/<_>(?:<_>)+/g, placeholder);
  }
}
