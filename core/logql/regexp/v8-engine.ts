import { canBeEmpty, isBoundedSearch, isDeterministicFromStart } from './analysis.js';
import type { CharSet } from './char-set.js';
import type { FindFrom } from './expand.js';
import { namedGroups, type GroupNames } from './re2-engine.js';
import type { RegExpNode } from './tree.js';

/** Translates a pattern for V8 if backtracking is certainly linear for it; otherwise undefined. */
export function translateForV8(node: RegExpNode, anchored: boolean): RegExp | undefined {
  const startsAtBegin = anchored || beginsText(node);
  const isLinear = isBoundedSearch(node) || (startsAtBegin && isDeterministicFromStart(node));
  // V8 also finds empty matches between the halves of a surrogate pair.
  if (!isLinear || (!startsAtBegin && canBeEmpty(node))) return undefined;
  const source = sourceOf(node);
  return new RegExp(anchored ? `^(?:${source})$` : source, 'gu');
}

/** Returns a finder of matches in one text for a pattern translated for V8. */
export function v8Finder(pattern: RegExp, names: GroupNames, text: string): FindFrom {
  return (from) => {
    pattern.lastIndex = from;
    const match = pattern.exec(text);
    if (match === null) return undefined;
    const groups: readonly (string | undefined)[] = [...match];
    const end = match.index + match[0].length;
    return { index: match.index, end, groups, named: namedGroups(names, groups) };
  };
}

function beginsText(node: RegExpNode): boolean {
  switch (node.kind) {
    case 'assert':
      return node.test === 'begin';
    case 'concat':
      return node.items[0] !== undefined && beginsText(node.items[0]);
    case 'group':
      return beginsText(node.item);
    case 'alternate':
    case 'chars':
    case 'repeat':
      return false;
  }
}

function sourceOf(node: RegExpNode): string {
  switch (node.kind) {
    case 'chars':
      return classOf(node.set);
    case 'assert':
      return { begin: '^', end: '$', word: '\\b', 'not-word': '\\B' }[node.test];
    case 'concat':
      return node.items.map(sourceOf).join('');
    case 'alternate':
      return node.items.map(sourceOf).join('|');
    case 'group':
      return `${node.captures ? '(' : '(?:'}${sourceOf(node.item)})`;
    case 'repeat': {
      const max = node.max === Infinity ? '' : String(node.max);
      return `${sourceOf(node.item)}{${String(node.min)},${max}}${node.isLazy ? '?' : ''}`;
    }
  }
}

function classOf(set: CharSet): string {
  return `[${set.map(([low, high]) => `${escape(low)}-${escape(high)}`).join('')}]`;
}

function escape(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
