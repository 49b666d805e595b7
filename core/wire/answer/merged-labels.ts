import type { Label, LabelSet } from '../../base/labels/label-set.js';
import { withoutInvalid } from '../../logql/pipeline/json-text.js';
import { doAll, type Steps } from '../../base/pace/steps.js';

type Member = readonly [name: string, json: string];

/** Labels written per step. */
const stepLabels = 1_000;

const keptNames = 4096;
const nameJson = new Map<string, string>();

/** Writes the JSON of a stream's labels with other labels applied over them, without building a set per entry. */
export class LabelsMerger {
  readonly #base: readonly Member[];
  readonly #baseJson: string;

  constructor(base: LabelSet) {
    this.#base = base.labels.map(([name, value]): Member => [name, memberJson(name, value)]);
    this.#baseJson = base.json;
  }

  /** The object text. Equal sets give equal texts, so it also serves as the key of the merged stream. Later groups win. */
  json(structuredMetadata: LabelSet, parsed: LabelSet): string {
    return doAll(this.jsonSteps(structuredMetadata, parsed));
  }

  /** The same in steps: a line may have tens of thousands of labels. */
  *jsonSteps(structuredMetadata: LabelSet, parsed: LabelSet): Steps<string> {
    const over =
      parsed.size === 0
        ? structuredMetadata.labels
        : structuredMetadata.size === 0
          ? parsed.labels
          : structuredMetadata.with(parsed.labels).labels;
    return over.length === 0 ? this.#baseJson : yield* this.#merge(over);
  }

  /** Both lists are sorted by name. */
  *#merge(over: readonly Label[]): Steps<string> {
    let text = '';
    let at = 0;
    let merged = 0;
    for (const [name, value] of over) {
      merged += 1;
      if (merged % stepLabels === 0) yield;
      for (let member = this.#base[at]; member !== undefined && member[0] < name; member = this.#base[at]) {
        text += text === '' ? member[1] : `,${member[1]}`;
        at += 1;
      }
      if (this.#base[at]?.[0] === name) at += 1;
      const own = memberJson(name, value);
      text += text === '' ? own : `,${own}`;
    }
    for (; at < this.#base.length; at += 1) text += `${text === '' ? '' : ','}${this.#base[at]?.[1] ?? ''}`;
    return `{${text}}`;
  }
}

/** Loki shows a space for an invalid character in the labels of streams, unless they are asked for by category. */
function memberJson(name: string, value: string): string {
  let shown = nameJson.get(name);
  if (shown === undefined) {
    shown = JSON.stringify(name);
    if (nameJson.size < keptNames) nameJson.set(name, shown);
  }
  return `${shown}:${JSON.stringify(withoutInvalid(value))}`;
}
