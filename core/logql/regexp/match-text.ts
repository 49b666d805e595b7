import { canBeEmpty } from './analysis.js';
import type { CharSet } from './char-set.js';
import type { RegExpNode } from './tree.js';

/** Values of named groups. */
export type GroupValues = ReadonlyMap<string, string>;

/** The named groups that have a value, which is not empty, in every match. The tree must be exact. */
export function certainGroups(node: RegExpNode): ReadonlySet<string> {
  switch (node.op) {
    case 'capture': {
      const inner = certainGroups(node.item);
      return node.name === undefined || canBeEmpty(node.item) ? inner : new Set([...inner, node.name]);
    }
    case 'repeat':
      return node.min > 0 ? certainGroups(node.item) : new Set();
    case 'concat':
      return new Set(node.items.flatMap((item) => [...certainGroups(item)]));
    case 'alternate': {
      const [first, ...others] = node.items.map(certainGroups);
      return new Set([...(first ?? [])].filter((name) => others.every((names) => names.has(name))));
    }
    case 'literal':
    case 'class':
    case 'any':
    case 'any-not-lf':
    case 'assert':
    case 'empty':
      return new Set();
  }
}

/** Maximum length of a text without the values in it. */
const maxLength = 4096;

/**
 * A text that the pattern may match with these values, as short as the pattern allows. What surrounds a value may change the match, so it
 * must be matched to find out; undefined if it would be too long.
 * @param filler the character to use wherever the pattern accepts it
 */
export function matchingText(root: RegExpNode, values: GroupValues, filler: string): string | undefined {
  let left = maxLength;
  function written(node: RegExpNode): string {
    if (left < 0) return '';
    switch (node.op) {
      case 'literal':
        return taken(node.text);
      case 'class':
        return taken(node.set === undefined ? filler : charOf(node.set, filler));
      case 'any':
      case 'any-not-lf':
        return taken(filler);
      case 'assert':
      case 'empty':
        return '';
      case 'capture':
        return values.get(node.name ?? '') ?? written(node.item);
      case 'concat':
        return node.items.map(written).join('');
      case 'alternate': {
        const chosen = node.items.find((item) => hasGroup(item, values)) ?? node.items[0];
        return chosen === undefined ? '' : written(chosen);
      }
      case 'repeat': {
        const times = node.min === 0 && hasGroup(node.item, values) ? 1 : node.min;
        let text = '';
        for (let time = 0; time < times && left >= 0; time += 1) text += written(node.item);
        return text;
      }
    }
  }
  function taken(text: string): string {
    left -= Math.max(1, text.length);
    return text;
  }
  const text = written(root);
  return left < 0 ? undefined : text;
}

function hasGroup(node: RegExpNode, values: GroupValues): boolean {
  if (node.op === 'capture' && node.name !== undefined && values.has(node.name)) return true;
  if ('items' in node) return node.items.some((item) => hasGroup(item, values));
  return 'item' in node && hasGroup(node.item, values);
}

const preferred = Array.from('x0A-_./: ');

function charOf(set: CharSet, filler: string): string {
  const isIn = (char: string): boolean => {
    const code = char.codePointAt(0) ?? 0;
    return set.some(([low, high]) => low <= code && code <= high);
  };
  return [filler, ...preferred].find(isIn) ?? String.fromCodePoint(set[0]?.[0] ?? 0);
}
