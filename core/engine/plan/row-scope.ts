import type { Stage } from '../../logql/ast.js';
import { descriptorOf } from '../../logql/stages/index.js';
import type { LineSource } from '../../logql/stages/stage.js';
import type { Naming } from '../../victoria/names/naming.js';
import type { LabelScope } from './rules/label.js';

/** What of a stored row is still as it was stored, while the row runs through the stages. */
export class RowScope implements LabelScope {
  #changed: Set<string> | 'all' = new Set();
  #mayHaveFailed = false;
  #isLineStored = true;
  #isParsedAsJson = true;
  /** What parsers have read; undefined while there was none. */
  #parsed: LineSource | undefined;
  /** Names whose values come from a template or another name. */
  readonly #assigned = new Set<string>();
  readonly naming: Naming;

  constructor(naming: Naming) {
    this.naming = naming;
  }

  isStored(name: string): boolean {
    return this.#changed !== 'all' && !this.#changed.has(name);
  }

  sourceInLine(name: string): 'keys' | 'pieces' | undefined {
    if (this.#parsed === undefined || this.#parsed === 'other-lines' || this.#assigned.has(name))
      return undefined;
    return this.#parsed === 'pieces' ? 'pieces' : 'keys';
  }

  get mayHaveFailed(): boolean {
    return this.#mayHaveFailed;
  }

  get isParsedAsJson(): boolean {
    return this.#isParsedAsJson;
  }

  /** True while the line is the stored one. */
  get isLineStored(): boolean {
    return this.#isLineStored;
  }

  pass(stage: Stage): void {
    const descriptor = descriptorOf(stage);
    const [made, lost] = [descriptor.makes(stage), descriptor.loses(stage)];
    const source = descriptor.source(stage);
    if (descriptor.errors(stage) === 'made') this.#mayHaveFailed = true;
    if (source !== undefined || made === 'all') this.#passParser(source ?? 'other-lines');
    else for (const name of made) this.#assigned.add(name);
    if (descriptor.changesLine !== 'no') this.#isLineStored = false;
    if (this.#changed === 'all') return;
    if (made === 'all' || lost === 'all') this.#changed = 'all';
    // A parsed name that a row has already gets a suffix.
    else for (const name of [...made, ...lost]) this.#changed.add(name).add(`${name}_extracted`);
  }

  #passParser(source: LineSource): void {
    this.#isParsedAsJson &&= this.#isLineStored && source === 'json-keys';
    if (this.#parsed === 'other-lines') return;
    if (!this.#isLineStored) this.#parsed = 'other-lines';
    else if (this.#parsed !== 'pieces' || source === 'other-lines') this.#parsed = source;
  }
}
