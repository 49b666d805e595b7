import { createHash, createHmac } from 'node:crypto';
import type { PurgeArea } from './shared-generations.js';

export const tagBytes = 16;

/** What things are called in a store that is shared. Keys hold queries and may be long, so names are digests. */
export class SharedNames {
  readonly #prefix: string;
  readonly #secret: string | undefined;

  constructor(prefix: string, secret: string | undefined) {
    this.#prefix = prefix;
    this.#secret = secret;
  }

  /** Where the value of a key is. */
  ofKey(key: string): string {
    return this.#prefix + this.#digest(key);
  }

  /** Where the generation of an area is. */
  ofArea({ tenant }: PurgeArea): string {
    return `${this.#prefix}generation${tenant === undefined ? '' : `:${this.#digest(`tenant ${tenant}`)}`}`;
  }

  /** What a frame is bound to. */
  bound(key: string, generation: string): string {
    return `${this.#prefix} ${generation} ${key}`;
  }

  #digest(text: string): string {
    const hash = this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
    return hash.update(text).digest('base64url');
  }
}

/** The beginning of a value tells those of other generations from damaged ones; what counts is the digest of the frame. */
export function tagOf(generation: string): Buffer {
  return createHash('sha256').update(generation).digest().subarray(0, tagBytes);
}
