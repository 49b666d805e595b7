import { labelsJson, type Label, type LabelSet } from '../../base/labels/label-set.js';
import { withoutInvalid } from '../../logql/pipeline/json-text.js';
import { doAll, type Steps } from '../../base/pace/steps.js';

/** Labels merged, or written, per step. */
const stepLabels = 1_000;

/** Writes the JSON of a stream's labels merged with other labels. */
export class LabelsMerger {
  readonly #base: LabelSet;

  constructor(base: LabelSet) {
    this.#base = base;
  }

  /** The JSON object. Equal sets give equal texts, so it also serves as the key of the merged stream. Later groups take precedence. */
  json(structuredMetadata: LabelSet, parsed: LabelSet): string {
    return doAll(this.jsonSteps(structuredMetadata, parsed));
  }

  /** As `json`, in steps: a line may have tens of thousands of labels. */
  *jsonSteps(structuredMetadata: LabelSet, parsed: LabelSet): Steps<string> {
    const over =
      parsed.size === 0
        ? structuredMetadata.labels
        : structuredMetadata.size === 0
          ? parsed.labels
          : structuredMetadata.with(parsed.labels).labels;
    if (over.length === 0) return this.#base.json;
    const merged = yield* merge(this.#base.labels, over);
    if (merged.length <= stepLabels) return labelsJson(merged);
    const parts: string[] = [];
    for (let at = 0; at < merged.length; at += stepLabels) {
      parts.push(labelsJson(merged.slice(at, at + stepLabels)).slice(1, -1));
      yield;
    }
    return `{${parts.join(',')}}`;
  }
}

/** Merges two lists that are sorted by name. */
function* merge(base: readonly Label[], over: readonly Label[]): Steps<readonly Label[]> {
  const merged: Label[] = [];
  let at = 0;
  for (const label of over) {
    if (merged.length % stepLabels === stepLabels - 1) yield;
    for (let below = base[at]; below !== undefined && below[0] < label[0]; below = base[at]) {
      merged.push(shown(below));
      at += 1;
    }
    if (base[at]?.[0] === label[0]) at += 1;
    merged.push(shown(label));
  }
  merged.push(...base.slice(at).map(shown));
  return merged;
}

/** A label as shown: like Loki, with a space in place of an invalid character in stream labels, unless they are requested by category. */
function shown(label: Label): Label {
  const value = withoutInvalid(label[1]);
  return value === label[1] ? label : [label[0], value];
}
