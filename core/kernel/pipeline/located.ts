import type { SourcePosition } from './types.js';

/** YAML as the house reads it: plain values, each knowing where it stands. */
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
  /** True when the value stands in quotes or a block; bare text may change its type. */
  readonly isQuoted: boolean;
  /** The environment variable that gave the value. */
  readonly fromEnv?: string;
  /** True when a reference could not be resolved: a finding says so already, and no other may be built on the value. */
  readonly isUnknown?: boolean;
}
export interface LocatedEntry {
  readonly key: string;
  readonly keyAt: SourcePosition;
  readonly value: LocatedNode;
}

/** The entry of a key; the first when a key stands twice. */
export function entryOf(node: LocatedNode | undefined, key: string): LocatedEntry | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key) : undefined;
}

/** The value of a key. */
export function valueOf(node: LocatedNode | undefined, key: string): LocatedNode | undefined {
  return entryOf(node, key)?.value;
}

/** The text of a scalar; undefined for anything else. */
export function textOf(node: LocatedNode | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' && node.isUnknown !== true
    ? node.value
    : undefined;
}

/** True when the value, or a value inside it, comes from a reference that could not be resolved. */
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
 * Plain data of a node, maps with a null prototype (keys are strangers' names). Entries whose value is not known are left out,
 * so that validation says nothing about them.
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

/** Where a path leads: as far as the tree has it. `key` is the position of the last key, `value` of what it holds. */
export interface Place {
  readonly value: SourcePosition;
  readonly key?: SourcePosition;
  readonly node?: LocatedNode;
}

/** Follows a path of keys and indices. Stops at the last node that exists, so that a missing value points at its parent. */
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
