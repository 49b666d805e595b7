/** One label: name and value. */
export type Label = readonly [name: string, value: string];

/**
 * An immutable set of labels, sorted by name, each name once. Index labels are never empty (who builds them leaves empty values
 * out); a parsed label may be.
 * Streams and series are grouped by `key`; `json` is the object text an answer carries. Both are made at first use.
 */
export class LabelSet {
  static readonly empty = new LabelSet([]);

  readonly labels: readonly Label[];
  #key: string | undefined;
  #json: string | undefined;

  private constructor(sorted: readonly Label[]) {
    this.labels = sorted;
  }

  /** Builds a set from labels in any order; the last value of a repeated name wins. */
  static from(labels: Iterable<Label>): LabelSet {
    const byName = new Map<string, string>();
    for (const [name, value] of labels) byName.set(name, value);
    if (byName.size === 0) return LabelSet.empty;
    return new LabelSet([...byName].sort((a, b) => (a[0] < b[0] ? -1 : 1)));
  }

  /** Builds a set from labels that are sorted by name already, each name once; the array is kept. */
  static fromSorted(labels: readonly Label[]): LabelSet {
    return labels.length === 0 ? LabelSet.empty : new LabelSet(labels);
  }

  /** The value of a label, or the empty string: in Loki a missing label equals an empty one. */
  get(name: string): string {
    for (const [labelName, value] of this.labels) if (labelName === name) return value;
    return '';
  }

  has(name: string): boolean {
    return this.labels.some(([labelName]) => labelName === name);
  }

  /** This set with other labels laid over it. */
  with(changes: Iterable<Label>): LabelSet {
    return LabelSet.from([...this.labels, ...changes]);
  }

  /** This set without the named labels. */
  without(names: ReadonlySet<string>): LabelSet {
    return LabelSet.from(this.labels.filter(([name]) => !names.has(name)));
  }

  get size(): number {
    return this.labels.length;
  }

  /** A text that is equal exactly for equal sets. */
  get key(): string {
    this.#key ??= this.labels
      .map(([name, value]) => `${name.length}:${name}${value.length}:${value}`)
      .join('');
    return this.#key;
  }

  /** The set as the text of a JSON object. */
  get json(): string {
    this.#json ??= `{${this.labels.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
    return this.#json;
  }
}
