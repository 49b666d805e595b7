import type { LabelFilter, Stage } from '../../logql/ast.js';
import { visit } from '../../logql/walk.js';

/** Which names a stage may give a row, change or take away; `all` when its text does not tell. */
export function changedNames(stage: Stage): readonly string[] | 'all' {
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

/** Whether a stage may mark a row with an error, behind which Loki lets comparisons of numbers pass. */
export function mayFail(stage: Stage): boolean {
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

/** What is left of the stored names while a row runs through the stages. */
export class NameScope {
  #changed: Set<string> | 'all' = new Set();
  #mayHaveFailed = false;

  /** True while a name means what the backend stored under it. */
  isStored(name: string): boolean {
    return this.#changed !== 'all' && !this.#changed.has(name);
  }

  /** True when a stage before may have marked the row with an error. */
  get mayHaveFailed(): boolean {
    return this.#mayHaveFailed;
  }

  pass(stage: Stage): void {
    if (mayFail(stage)) this.#mayHaveFailed = true;
    const names = changedNames(stage);
    if (this.#changed === 'all') return;
    if (names === 'all') this.#changed = 'all';
    // A parsed name that a row has already gets a suffix.
    else for (const name of names) this.#changed.add(name).add(`${name}_extracted`);
  }
}
