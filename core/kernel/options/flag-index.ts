import type { OptionDefinition } from './schema.js';
import { variableOf } from './variables.js';

/** Indexes options by the flag that they declare. */
export class FlagIndex {
  /** By environment variable, since two flags with the same variable could not be distinguished there. */
  readonly #declared = new Map<string, OptionDefinition & { readonly flag: string }>();

  /**
   * Throws if two options declare the same flag, or flags with the same environment variable, or if an option shares a flag that no option
   * declares with the same type, default and environment.
   */
  constructor(definitions: Iterable<OptionDefinition>) {
    const all = [...definitions];
    for (const definition of all) {
      const { flag, owner } = definition;
      if (flag === undefined) continue;
      const variable = variableOf(flag);
      const other = this.#declared.get(variable);
      if (other?.flag === flag)
        throw new Error(`flag -${flag} is declared by "${other.owner}" and by "${owner}"`);
      if (other !== undefined)
        throw new Error(
          `flags -${other.flag} and -${flag} would have the same environment variable, ${variable}`,
        );
      this.#declared.set(variable, { ...definition, flag });
    }
    for (const definition of all) {
      if (definition.shares !== undefined) this.#checkSharer(definition, definition.shares);
    }
  }

  /** The option that declares the flag. */
  get(flag: string): OptionDefinition | undefined {
    const declared = this.#declared.get(variableOf(flag));
    return declared?.flag === flag ? declared : undefined;
  }
  names(): readonly string[] {
    return [...this.#declared.values()].map(({ flag }) => flag);
  }

  #checkSharer(definition: OptionDefinition, flag: string): void {
    const declared = this.get(flag);
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
