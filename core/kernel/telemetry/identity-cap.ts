import { overflowLabel } from './meters.js';

/** Gives the first N identities their own name in metrics and all others one shared name. */
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
