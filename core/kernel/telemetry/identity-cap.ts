import { overflowLabel } from './series.js';

/** Bounds the identities in metrics: the first N keep their names, all others share one. */
export class IdentityCap {
  readonly #known = new Set<string>();

  constructor(private readonly max: number) {}

  of(identity: string): string {
    if (this.#known.has(identity)) return identity;
    if (this.#known.size >= this.max) return overflowLabel;
    this.#known.add(identity);
    return identity;
  }
}
