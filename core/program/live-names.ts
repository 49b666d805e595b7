import type { NamesOptions } from '../base/options.gen.js';
import type { Pipeline } from '../kernel/pipeline/types.js';
import { Naming } from '../victoria/names/naming.js';

/** The names of a running proxy. A reload takes the field mapping from where it came from; the other options need a restart. */
export class LiveNames {
  readonly #reread: Pipeline['rereadNames'];
  #options: NamesOptions;
  #naming: Naming;

  constructor({ names, rereadNames }: Pick<Pipeline, 'names' | 'rereadNames'>) {
    this.#reread = rereadNames;
    this.#options = names;
    this.#naming = new Naming(names);
  }

  get options(): NamesOptions {
    return this.#options;
  }

  get naming(): Naming {
    return this.#naming;
  }

  /** True when the field mapping changed; an Error leaves it unchanged. */
  async reload(): Promise<boolean> {
    const read = await this.#reread?.();
    if (read === undefined) return false;
    const { fieldMapping } = read;
    if (JSON.stringify(fieldMapping) === JSON.stringify(this.#options.fieldMapping)) return false;
    this.#options = { ...this.#options, fieldMapping };
    this.#naming = this.#naming.withMapping(fieldMapping);
    return true;
  }
}
