import type { LabelFilter, Stage } from '../../logql/ast.js';
import { visit } from '../../logql/walk.js';
import type { Naming } from '../../victoria/names/naming.js';
import { isWholeJson } from './json-leaf.js';
import type { LabelScope } from './rules/label/label-rule.js';

/** Which names a stage may give a row, change or take away; `all` when its text does not tell. */
function changedNames(stage: Stage): readonly string[] | 'all' {
  switch (stage.kind) {
    case 'line-filter':
    case 'label-filter':
    case 'line-format':
    case 'decolorize':
      return [];
    case 'json':
    case 'logfmt':
      return stage.params.length === 0 ? 'all' : stage.params.map(({ name }) => name);
    case 'regexp':
      return [...stage.pattern.matchAll(/\(\?P?<([^>]*)>/g)].map(([, name = '']) => name);
    case 'pattern':
      return [...stage.pattern.matchAll(/<([^<>]*)>/g)].map(([, name = '']) => name);
    case 'unpack':
    case 'keep':
      return 'all';
    case 'label-format':
      return stage.assignments.flatMap((one) =>
        one.kind === 'rename' ? [one.name, one.source] : [one.name],
      );
    case 'drop':
      return stage.items.map(({ name }) => name);
  }
}

/**
 * Where the values come from that a parser makes labels of: from under keys in its line that have the label's name, from other pieces of
 * its line, or from a line that it makes.
 */
function readBy(stage: Stage): 'keys' | 'pieces' | 'other-lines' | undefined {
  switch (stage.kind) {
    case 'json':
    case 'logfmt':
      return stage.params.length === 0 ? 'keys' : 'pieces';
    case 'regexp':
    case 'pattern':
      return 'pieces';
    case 'unpack':
      return 'other-lines';
    default:
      return undefined;
  }
}

/** Whether a stage may mark a row with an error, behind which Loki lets comparisons of addresses pass. */
function mayFail(stage: Stage): boolean {
  if (stage.kind === 'label-filter') return !comparesTexts(stage.filter);
  return stage.kind !== 'line-filter' && stage.kind !== 'drop' && stage.kind !== 'decolorize';
}

/** Only comparisons of texts leave no error behind. */
export function comparesTexts(filter: LabelFilter): boolean {
  let isText = true;
  visit(filter, ({ kind }) => {
    isText &&= kind !== 'number' && kind !== 'duration' && kind !== 'bytes' && kind !== 'ip';
  });
  return isText;
}

/** What of a stored row is still as it was stored, while the row runs through the stages. */
export class RowScope implements LabelScope {
  #changed: Set<string> | 'all' = new Set();
  #mayHaveFailed = false;
  #isLineStored = true;
  #isParsedAsJson = true;
  /** What parsers have read; undefined while there was none. */
  #parsed: 'keys' | 'pieces' | 'other-lines' | undefined;
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
    return this.#parsed === 'other-lines' || this.#assigned.has(name) ? undefined : this.#parsed;
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
    if (mayFail(stage)) this.#mayHaveFailed = true;
    this.#passParser(stage);
    if (stage.kind === 'label-format') for (const { name } of stage.assignments) this.#assigned.add(name);
    if (changesLine(stage)) this.#isLineStored = false;
    const names = changedNames(stage);
    if (this.#changed === 'all') return;
    if (names === 'all') this.#changed = 'all';
    // A parsed name that a row has already gets a suffix.
    else for (const name of names) this.#changed.add(name).add(`${name}_extracted`);
  }

  #passParser(stage: Stage): void {
    const read = readBy(stage);
    if (read !== undefined) this.#isParsedAsJson &&= this.#isLineStored && isWholeJson(stage);
    if (read === undefined || this.#parsed === 'other-lines') return;
    if (!this.#isLineStored || read === 'other-lines') this.#parsed = 'other-lines';
    else if (this.#parsed !== 'pieces') this.#parsed = read;
  }
}

function changesLine({ kind }: Stage): boolean {
  return kind === 'line-format' || kind === 'decolorize' || kind === 'unpack';
}
