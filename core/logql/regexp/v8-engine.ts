import { canBeEmpty, isBoundedSearch, isDeterministicFromStart } from './analysis.js';
import type { CharSet } from './char-set.js';
import { type FindFrom, namedGroups, type GroupNames } from './re2-engine.js';
import { isSingle, setOf, setOfChar, type Assertion, type RegExpNode } from './tree.js';

/** Translates a pattern for V8 if backtracking is certainly linear for it; undefined otherwise. */
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
  if (node.op === 'capture') return beginsText(node.item);
  const first = node.op === 'concat' ? node.items[0] : undefined;
  return first === undefined ? node.op === 'assert' && node.test === 'begin' : beginsText(first);
}

const assertions: Readonly<Record<Assertion, string>> = {
  begin: '^',
  end: '$',
  word: '\\b',
  'not-word': '\\B',
  'begin-line': '(?:^|(?<=\\n))',
  'end-line': '(?:$|(?=\\n))',
};

/** The source of a node as an item of a sequence. */
function sourceOf(node: RegExpNode): string {
  switch (node.op) {
    case 'literal':
      return Array.from(node.text, (char) => classOf(setOfChar(char, node.folds))).join('');
    case 'class':
    case 'any':
    case 'any-not-lf':
      return classOf(setOf(node) ?? []);
    case 'assert':
      return assertions[node.test];
    case 'empty':
      return '';
    case 'concat':
      return node.items.map(sourceOf).join('');
    case 'alternate':
      return `(?:${choiceOf(node)})`;
    case 'capture':
      return `(${choiceOf(node.item)})`;
    case 'repeat': {
      const item =
        isSingle(node.item) || node.item.op === 'capture'
          ? sourceOf(node.item)
          : `(?:${choiceOf(node.item)})`;
      const max = node.max === Infinity ? '' : String(node.max);
      return `${item}{${String(node.min)},${max}}${node.isLazy ? '?' : ''}`;
    }
  }
}

/** The source of a node as the content of a group. */
function choiceOf(node: RegExpNode): string {
  return node.op === 'alternate' ? node.items.map(sourceOf).join('|') : sourceOf(node);
}

function classOf(set: CharSet): string {
  return `[${set.map(([low, high]) => `${escape(low)}-${escape(high)}`).join('')}]`;
}

function escape(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
