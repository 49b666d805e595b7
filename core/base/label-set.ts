export type Label = readonly [name: string, value: string];

/**
 * An immutable set of labels, sorted by name, each name once. Index labels are never empty (callers leave empty values out); a parsed label
 * may be. Streams and series are grouped by `key`; `json` is the object text used in answers. Both are computed on first use.
 */
export class LabelSet {
  static readonly empty = new LabelSet([]);

  readonly labels: readonly Label[];
  #key: string | undefined;
  #json: string | undefined;

  private constructor(sorted: readonly Label[]) {
    this.labels = sorted;
  }

  /** Builds a set from labels in any order; for a repeated name the last value wins. */
  static from(labels: Iterable<Label>): LabelSet {
    const all = [...labels];
    if (all.length === 0) return LabelSet.empty;
    if (isSorted(all)) return new LabelSet(all);
    if (all.length > mostInserted) {
      const byName = new Map<string, string>();
      for (const [name, value] of all) byName.set(name, value);
      return new LabelSet([...byName].sort((a, b) => (a[0] < b[0] ? -1 : 1)));
    }
    sortInPlace(all);
    return new LabelSet(all);
  }

  /** Builds a set from labels that are already sorted by name and unique. Keeps the array. */
  static fromSorted(labels: readonly Label[]): LabelSet {
    return labels.length === 0 ? LabelSet.empty : new LabelSet(labels);
  }

  /** The set with this key. */
  static fromKey(key: string): LabelSet {
    const labels: Label[] = [];
    let at = 0;
    const next = (): string => {
      const from = key.indexOf(':', at) + 1;
      const length = Number(key.slice(at, from - 1));
      at = from + length;
      return key.slice(from, at);
    };
    while (at < key.length) labels.push([next(), next()]);
    const set = LabelSet.fromSorted(labels);
    if (labels.length > 0) set.#key = key;
    return set;
  }

  /** The value of a label, or the empty string: in Loki a missing label equals an empty one. */
  get(name: string): string {
    for (const [labelName, value] of this.labels) if (labelName === name) return value;
    return '';
  }

  has(name: string): boolean {
    return this.labels.some(([labelName]) => labelName === name);
  }

  /** This set with `changes` applied over it. */
  with(changes: Iterable<Label>): LabelSet {
    return LabelSet.from([...this.labels, ...changes]);
  }

  without(names: ReadonlySet<string>): LabelSet {
    return LabelSet.fromSorted(this.labels.filter(([name]) => !names.has(name)));
  }

  get size(): number {
    return this.labels.length;
  }

  /** A text that is equal for two sets exactly when the sets are equal. */
  get key(): string {
    this.#key ??= this.labels
      .map(([name, value]) => `${name.length}:${name}${value.length}:${value}`)
      .join('');
    return this.#key;
  }

  /**
   * The same set with its own copy of the text. V8 keeps a long line alive as long as a slice of it is used; here the values become slices
   * of the key instead.
   */
  owned(): LabelSet {
    if (this.labels.length === 0) return this;
    const { key } = this;
    let at = 0;
    const labels = this.labels.map(([name, value]): Label => {
      const from = at + `${name.length}:${name}${value.length}:`.length;
      at = from + value.length;
      return [name, key.slice(from, at)];
    });
    const set = new LabelSet(labels);
    set.#key = key;
    return set;
  }

  get json(): string {
    this.#json ??= labelsJson(this.labels);
    return this.#json;
  }
}

/** The JSON object text of labels that are unique, in their order. One JSON.stringify call is much faster than one per member. */
export function labelsJson(labels: readonly Label[]): string {
  const members = Object.create(null) as Record<string, string>;
  for (const [name, value] of labels) {
    // Objects list integer-like names first, which would change the order.
    if (beginsWithDigit(name)) return `{${labels.map(memberJson).join(',')}}`;
    members[name] = value;
  }
  return JSON.stringify(members);
}

function beginsWithDigit(name: string): boolean {
  const unit = name.charCodeAt(0);
  return unit >= 0x30 && unit <= 0x39;
}

function memberJson([name, value]: Label): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

/** Sets are small and mostly sorted already: up to this size, insertion sort beats a Map. */
const mostInserted = 24;

function isSorted(labels: readonly Label[]): boolean {
  let before: string | undefined;
  for (const [name] of labels) {
    if (before !== undefined && before >= name) return false;
    before = name;
  }
  return true;
}

/** Sorts by name; for a repeated name the last label wins. */
function sortInPlace(labels: Label[]): void {
  for (let next = 1; next < labels.length; next += 1) {
    const label = labels[next];
    if (label === undefined) continue;
    let at = next;
    while (at > 0 && isAfter(labels[at - 1], label)) at -= 1;
    if (at > 0 && labels[at - 1]?.[0] === label[0]) {
      labels[at - 1] = label;
      labels.splice(next, 1);
      next -= 1;
    } else if (at < next) {
      labels.copyWithin(at + 1, at, next);
      labels[at] = label;
    }
  }
}

function isAfter(one: Label | undefined, other: Label): boolean {
  return one !== undefined && one[0] > other[0];
}

/** Drops labels with empty values, as Loki does whenever it derives a label set from another. */
export function withoutEmpty(set: LabelSet): LabelSet {
  return set.labels.some(([, value]) => value === '')
    ? LabelSet.fromSorted(set.labels.filter(([, value]) => value !== ''))
    : set;
}

const short = new Map([
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

/** Everything Go does not consider printable (letters, marks, numbers, punctuation, symbols, the ASCII space), and what must be escaped. */
const unprintable = /[\\"]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Sequences of characters outside plain ASCII: only these need the slower Unicode check. */
const special = /[^ !#-[\]-~]+/g;

/** Quotes a string as Go's strconv.Quote does. A lone surrogate from U+DC80 to U+DCFF is a byte that is not UTF-8. */
export function quoteGo(text: string): string {
  return `"${text.replaceAll(special, (part) => part.replaceAll(unprintable, escape))}"`;
}

function escape(char: string): string {
  const known = short.get(char);
  if (known !== undefined) return known;
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code & 0xff).toString(16)}`;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  const hex = code.toString(16);
  if (code < 0x20 || code === 0x7f) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** A label set as Loki prints it, `{name="value", ...}`: in messages, and as the text by which it sorts streams. */
export function labelsText({ labels }: LabelSet): string {
  return `{${labels.map(([name, value]) => `${name}=${quoteGo(value)}`).join(', ')}}`;
}
