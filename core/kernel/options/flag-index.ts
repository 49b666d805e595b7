import type { OptionDefinition } from './schema.js';
import { variableOf } from './variables.js';

/** Indexes options by the flag that they declare. */
export class FlagIndex {
  readonly #declared = new Map<string, OptionDefinition>();
  readonly #variables = new Map<string, string>();

  /**
   * Throws if two options declare the same flag, or flags with the same environment variable, or if an option shares a flag that no option
   * declares with the same type, default and environment.
   */
  constructor(definitions: Iterable<OptionDefinition>) {
    const all = [...definitions];
    for (const definition of all) {
      if (definition.flag === undefined) continue;
      const other = this.#declared.get(definition.flag);
      if (other !== undefined) {
        throw new Error(
          `flag -${definition.flag} is declared by "${other.owner}" and by "${definition.owner}"`,
        );
      }
      const alike = this.#variables.get(variableOf(definition.flag));
      if (alike !== undefined) {
        throw new Error(
          `flags -${alike} and -${definition.flag} would have the same environment variable, ${variableOf(definition.flag)}`,
        );
      }
      this.#variables.set(variableOf(definition.flag), definition.flag);
      this.#declared.set(definition.flag, definition);
    }
    for (const definition of all) {
      if (definition.shares !== undefined) this.#checkSharer(definition, definition.shares);
    }
  }

  /** The option that declares the flag. */
  get(flag: string): OptionDefinition | undefined {
    return this.#declared.get(flag);
  }
  names(): IterableIterator<string> {
    return this.#declared.keys();
  }
  definitions(): IterableIterator<OptionDefinition> {
    return this.#declared.values();
  }

  #checkSharer(definition: OptionDefinition, flag: string): void {
    const declared = this.#declared.get(flag);
    const isSame =
      declared !== undefined &&
      declared.kind === definition.kind &&
      declared.env.join() === definition.env.join() &&
      JSON.stringify(declared.schema.default) === JSON.stringify(definition.schema.default);
    if (!isSame) {
      throw new Error(
        `"${definition.owner}.${definition.key}" shares flag -${flag}, which no option of the same type, default and environment declares`,
      );
    }
  }
}
