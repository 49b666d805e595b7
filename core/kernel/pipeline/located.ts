/** A position in a file; line and column count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Characters to underline; at least 1. */
  readonly length: number;
  /** The flag or environment variable that was written, such as `flag -listen`; the position is then that of what it sets. */
  readonly given?: string;
}

/** YAML as plain values with positions. */
export type LocatedNode = LocatedMap | LocatedList | LocatedScalar;

export interface LocatedMap {
  readonly kind: 'map';
  readonly at: SourcePosition;
  readonly entries: readonly LocatedEntry[];
}
export interface LocatedList {
  readonly kind: 'list';
  readonly at: SourcePosition;
  readonly items: readonly LocatedNode[];
}
export interface LocatedScalar {
  readonly kind: 'scalar';
  readonly at: SourcePosition;
  readonly value: string | number | boolean | null;
  /** True for quoted and block scalars; the type of plain text may change. */
  readonly isQuoted: boolean;
  /** The environment variable that provided the value. */
  readonly fromEnv?: string;
  /** True when a reference could not be resolved. That is already reported, so no other finding may depend on the value. */
  readonly isUnknown?: boolean;
}
export interface LocatedEntry {
  readonly key: string;
  readonly keyAt: SourcePosition;
  readonly value: LocatedNode;
}

/** The entry of a key; the first when the key is duplicated. */
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

/** Whether the value, or a value inside it, comes from an unresolved reference. */
export function hasUnknown(node: LocatedNode): boolean {
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
 * The plain data of a node, with null-prototype maps because keys are untrusted. Entries with unknown values are left out, so that
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

/** The end of a path, as far as the tree has it: the positions of the last key and of its value. */
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
