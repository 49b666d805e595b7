import type { OptionDefinition } from './schema.js';

/** Indexes options by flag: which option declares a flag and which others share it. */
export class FlagIndex {
  readonly #declared = new Map<string, OptionDefinition>();
  readonly #owners = new Map<string, Set<string>>();

  /**
   * Throws when two options declare the same flag, or an option shares a flag that no option declares with the same type, default and
   * environment.
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
      this.#declared.set(definition.flag, definition);
      this.#owners.set(definition.flag, new Set([definition.owner]));
    }
    for (const definition of all) {
      if (definition.shares !== undefined) this.#addSharer(definition, definition.shares);
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
  /** The sections and plugins that use a flag. */
  ownersOf(flag: string): ReadonlySet<string> {
    return this.#owners.get(flag) ?? new Set();
  }

  /** Warns about given flags without effect, because no plugin in the pipeline uses them; one sentence each. */
  unusedWarnings(flags: Iterable<string>, present: ReadonlySet<string>): readonly string[] {
    const warnings: string[] = [];
    for (const flag of flags) {
      const owners = [...this.ownersOf(flag)];
      if (owners.length === 0 || owners.some((owner) => present.has(owner))) continue;
      const names = owners.map((owner) => `"${owner}"`).join(' or ');
      warnings.push(`flag -${flag} has no effect: the pipeline has no ${names}`);
    }
    return warnings;
  }

  /** Warns about given flags that are deprecated; one sentence each. */
  deprecatedWarnings(flags: Iterable<string>): readonly string[] {
    const warnings: string[] = [];
    for (const flag of flags) {
      const reason = this.get(flag)?.deprecated;
      if (reason !== undefined) warnings.push(`flag -${flag} is deprecated: ${reason}`);
    }
    return warnings;
  }

  /** Warns about given flags that no code reads yet; one sentence each. */
  unreadWarnings(flags: Iterable<string>, present: ReadonlySet<string>): readonly string[] {
    const warnings: string[] = [];
    for (const flag of flags) {
      const definition = this.get(flag);
      if (definition?.isUnread !== true || definition.deprecated !== undefined) continue;
      if ([...this.ownersOf(flag)].some((owner) => present.has(owner)))
        warnings.push(`flag -${flag} has no effect yet: this version only checks its value`);
    }
    return warnings;
  }

  #addSharer(definition: OptionDefinition, flag: string): void {
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
    this.#owners.get(flag)?.add(definition.owner);
  }
}
