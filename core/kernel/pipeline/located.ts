/** A position in a file; line and column start at 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Number of characters to underline; at least 1. */
  readonly length: number;
  /** The flag or environment variable with the value, such as `flag -listen`; the position is then that of the option it sets. */
  readonly given?: string;
}

/** Something that is wrong at a position. */
export interface Complaint {
  readonly at: SourcePosition;
  readonly message: string;
  /** "did you mean ...", "move X above line N". */
  readonly fix?: string | undefined;
}

/** YAML as plain values with positions. */
export type LocatedNode = LocatedMap | LocatedList | LocatedScalar;

interface LocatedMap {
  readonly kind: 'map';
  readonly at: SourcePosition;
  readonly entries: readonly LocatedEntry[];
}
interface LocatedList {
  readonly kind: 'list';
  readonly at: SourcePosition;
  readonly items: readonly LocatedNode[];
}
export interface LocatedScalar {
  readonly kind: 'scalar';
  readonly at: SourcePosition;
  readonly value: string | number | boolean | null;
  /** True if a reference could not be resolved. That is reported already, so no other finding may depend on the value. */
  readonly isUnknown?: boolean;
}
export interface LocatedEntry {
  readonly key: string;
  readonly keyAt: SourcePosition;
  readonly value: LocatedNode;
}

/** The entry of a key; the first one if the key is duplicated. */
export function entryOf(node: LocatedNode | undefined, key: string): LocatedEntry | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key) : undefined;
}

export function valueOf(node: LocatedNode | undefined, key: string): LocatedNode | undefined {
  return entryOf(node, key)?.value;
}

/** The text of a scalar; undefined for anything else. */
export function textOf(node: LocatedNode | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' && node.isUnknown !== true
    ? node.value
    : undefined;
}

/** True if the value, or a value in it, comes from an unresolved reference. */
function hasUnknown(node: LocatedNode): boolean {
  switch (node.kind) {
    case 'scalar':
      return node.isUnknown === true;
    case 'list':
      return node.items.some(hasUnknown);
    case 'map':
      return node.entries.some((entry) => hasUnknown(entry.value));
  }
}

/**
 * The plain data of a node, with null-prototype maps because keys are untrusted. Entries with unknown values are omitted, so that
 * validation does not report them.
 */
export function toPlain(node: LocatedNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(toPlain);
    case 'map': {
      const plain = Object.create(null) as Record<string, unknown>; // Object.create is typed any
      for (const { key, value } of node.entries) {
        if (!(key in plain) && !hasUnknown(value)) plain[key] = toPlain(value);
      }
      return plain;
    }
  }
}

/** The deepest existing node of a path: the positions of the last key and of its value. */
export interface Place {
  readonly value: SourcePosition;
  readonly key?: SourcePosition;
  readonly node?: LocatedNode;
}

/** Follows a path of keys and indices. Stops at the last existing node, so that a missing value points at its parent. */
export function placeOf(root: LocatedNode, path: readonly (string | number)[]): Place {
  let place: Place = { value: root.at, node: root };
  for (const step of path) {
    const { node } = place;
    const entry = entryOf(node, String(step));
    if (entry !== undefined) {
      place = { value: entry.value.at, key: entry.keyAt, node: entry.value };
      continue;
    }
    const item = node?.kind === 'list' ? node.items[Number(step)] : undefined;
    if (item === undefined) return place;
    place = { value: item.at, node: item };
  }
  return place;
}

/** A position as text: the flag or variable with the value, or a position in a file. */
export function placeText({ given, file, line, column }: SourcePosition): string {
  return given ?? `${file}:${line}:${column}`;
}

/** Kinds of errors found while parsing a file, before its meaning is checked. */
export type YamlProblemKind = 'syntax' | 'documents' | 'duplicate-key' | 'feature' | 'reference' | 'include';

export interface YamlProblem extends Complaint {
  readonly kind: YamlProblemKind;
}

/** Converts offsets in a text to positions. */
export class Locator {
  readonly #file: string;
  readonly #text: string;
  /** Start offset of each line. The parser's own counter misses some after an error. */
  readonly #lineStarts: readonly number[];
  /** Offset of the last non-blank character: something missing at the end of a file is reported after it. */
  readonly #last: number;

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
    this.#lineStarts = [0, ...[...text.matchAll(/\n/g)].map((newline) => newline.index + 1)];
    this.#last = Math.max(0, text.trimEnd().length - 1);
  }

  /** The position of [from, end), cut at the end of the line and at least one character long. */
  at(from: number, end: number): SourcePosition {
    const start = Math.min(from, this.#last);
    const next = this.#lineStarts.findIndex((lineStart) => lineStart > start);
    const line = next === -1 ? this.#lineStarts.length : next;
    const newline = this.#text.indexOf('\n', start);
    const lineEnd = newline === -1 ? this.#text.length : newline;
    const stop = Math.min(end, lineEnd);
    return {
      file: this.#file,
      line,
      column: start - (this.#lineStarts[line - 1] ?? 0) + 1,
      length: Math.max(stop - start, 1),
    };
  }
}
