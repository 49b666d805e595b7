import { placeholder, type TokenizedLine } from './tokens.js';

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

  /** The share of equal tokens at the same positions, and the number of open positions. A token that begins with NUL must be equal. */
  compare(tokens: readonly string[]): { readonly similarity: number; readonly open: number } {
    const own = this.#tokens;
    let same = 0;
    let open = 0;
    for (let index = 0; index < own.length; index += 1) {
      const token = own[index];
      if (token === placeholder) open += 1;
      else if (token === tokens[index]) same += 1;
      else if (token?.charCodeAt(0) === 0) return { similarity: -1, open };
    }
    return { similarity: same / own.length, open };
  }

  /** Adds a line: positions where it differs become open. */
  take(tokens: readonly string[], bucket: number): void {
    const own = this.#tokens;
    for (let index = 0; index < own.length; index += 1)
      if (own[index] !== tokens[index]) own[index] = placeholder;
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
    this.#size += 1;
  }

  /** The text of the pattern; adjacent open positions are merged. */
  pattern(): string {
    return this.#join(this.#tokens).replace(/<_>(?:<_>)+/g, placeholder);
  }
}
