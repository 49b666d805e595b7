import type { Matcher } from '../../logql/ast.js';
import { onlyChar } from '../../logql/regexp/char-set.js';
import { compileRegExp } from '../../logql/regexp/index.js';
import { exactTree } from '../../logql/regexp/parse.js';
import { type RegExpNode, setOfChar } from '../../logql/regexp/tree.js';
import type { StreamMatcher, StreamValueMatcher } from '../../victoria/logsql/ast.js';
import { matcher } from '../../victoria/logsql/build.js';

/**
 * A pattern of lines that VictoriaLogs evaluates like Go's regexp package; undefined if there is none. VictoriaLogs searches for the
 * literal prefix of a pattern and matches the rest as if a text started there: `foo\b` matches foox and not foo. A prefix that always
 * matches and is no literal keeps a pattern whole, which is slower.
 */
export function wholeLinePattern(pattern: string): string | undefined {
  if (mixesDots(pattern)) return undefined;
  return changesFlags.test(pattern) || isTakenApart(pattern, false) ? whole(pattern) : pattern;
}

/** A matcher for a stream selector, with the pattern kept whole in the same way; VictoriaLogs anchors it. */
export function wholeMatcher(label: string, op: StreamValueMatcher['op'], value: string): StreamMatcher {
  if (op === '=' || op === '!=') return matcher(label, op, value);
  const isSplit =
    changesFlags.test(value) || twoRuns.test(value) || losesChoice(value) || isTakenApart(value, true);
  return matcher(label, op, isSplit ? whole(value) : value);
}

// Dots for line feeds and anchors of lines get lost as well.
const changesFlags = /\(\?[a-zA-Z]*[ms]/;
// In `.+foo.+`, only the first foo is tested.
const twoRuns = /\.\+.*\.\+/s;

/** True if VictoriaLogs would ignore alternatives: for `(api|web)-.*new.*` it searches streams for `new` alone. */
function losesChoice(pattern: string): boolean {
  return (
    /[.\])](?:[*+]|\{\d+,\}).*[.\])](?:[*+]|\{\d+,\})/s.test(pattern) && /[[(|?{]|\\[a-zA-Z]/.test(pattern)
  );
}

function whole(pattern: string): string {
  return `(?:\\b|\\B)(?:${pattern})`;
}

function isTakenApart(pattern: string, anchored: boolean): boolean {
  if (!/[\^$]|\\[bBAz]/.test(pattern)) return false;
  const tree = exactTree(pattern);
  return tree === undefined || (firstChar(tree, anchored) !== undefined && looksBack(tree, true));
}

/** The only character that all matches start with; undefined if there is none. */
function firstChar(node: RegExpNode, anchored: boolean): number | undefined {
  switch (node.op) {
    case 'literal':
      return onlyChar(setOfChar(node.text, node.folds));
    case 'class':
    case 'any':
    case 'any-not-lf':
    case 'assert':
    case 'empty':
      return undefined;
    case 'capture':
      return firstChar(node.item, anchored);
    case 'alternate': {
      const [first, ...others] = node.items.map((item) => firstChar(item, anchored));
      return others.every((other) => other === first) ? first : undefined;
    }
    case 'repeat':
      return node.min > 0 ? firstChar(node.item, anchored) : undefined;
    case 'concat': {
      const first = node.items.find((item) => !(anchored && isBegin(item)));
      return first === undefined ? undefined : firstChar(first, anchored);
    }
  }
}

/** True if the pattern asserts the text before a position other than its start. An assertion about the end works at any position. */
function looksBack(node: RegExpNode, isFirst: boolean): boolean {
  switch (node.op) {
    case 'literal':
    case 'class':
    case 'any':
    case 'any-not-lf':
    case 'empty':
      return false;
    case 'assert':
      return !isFirst && node.test !== 'end';
    case 'capture':
      return looksBack(node.item, isFirst);
    case 'alternate':
      return node.items.some((item) => looksBack(item, isFirst));
    case 'repeat':
      return looksBack(node.item, false);
    case 'concat':
      return node.items.some((item, index) =>
        looksBack(item, isFirst && node.items.slice(0, index).every(({ op }) => op === 'assert')),
      );
  }
}

function isBegin(node: RegExpNode): boolean {
  if (node.op === 'capture') return isBegin(node.item);
  return node.op === 'assert' && node.test === 'begin';
}

/** True if some dots match any character and others do not match line feeds: VictoriaLogs rewrites patterns and mixes them up. */
function mixesDots(pattern: string): boolean {
  if (changesFlags.test(pattern.slice(1))) return true;
  if (!pattern.includes('|')) return false;
  const tree = exactTree(pattern);
  if (tree === undefined) return /\\[snvxWDP]|\[\^|\[\[:/.test(pattern);
  // Without a flag, alternatives of single characters, as in `\s|.`, may add up to any character.
  return (
    has(tree, 'any') && (!pattern.startsWith('(?') || has(tree, 'any-not-lf') || !changesFlags.test(pattern))
  );
}

function has(node: RegExpNode, op: RegExpNode['op']): boolean {
  if (node.op === op) return true;
  if ('items' in node) return node.items.some((item) => has(item, op));
  return 'item' in node && has(node.item, op);
}

export function matchesText({ op, value }: Pick<Matcher, 'op' | 'value'>, text: string): boolean {
  const isEqual =
    op === '=' || op === '!='
      ? text === value
      : compileRegExp(value, { anchored: true, dotAll: true }).test(text);
  return isEqual === (op === '=' || op === '=~');
}

/** True if every text passes a comparison, except perhaps the empty one; false if that is not obvious. */
export function passesAnyText({ op, value }: Pick<Matcher, 'op' | 'value'>): boolean {
  return op === '=~' ? value === '.+' || value === '.*' : op === '!=' && value === '';
}
