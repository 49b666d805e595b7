import { anyChar, areDisjoint, codesOf, onlyChar, type CharSet } from './char-set.js';
import { isSingle, setOf, setOfChar, type RegExpNode } from './tree.js';

const maxTexts = 64;
const maxLength = 512;
/** Bounds the work at one position in a text: paths through the pattern times the length of the longest. */
const maxWork = 512;

/** All texts that a pattern can match; undefined when it is not an alternation of plain texts. */
export function allTexts(node: RegExpNode): readonly string[] | undefined {
  switch (node.op) {
    case 'empty':
      return [''];
    case 'literal':
      return node.folds && Array.from(node.text).some((char) => onlyChar(setOfChar(char, true)) === undefined)
        ? undefined
        : [node.text];
    case 'class': {
      const codes = node.set === undefined ? [] : codesOf(node.set, maxTexts + 1);
      return codes.length === 0 || codes.length > maxTexts
        ? undefined
        : codes.map((code) => String.fromCodePoint(code));
    }
    case 'alternate': {
      const lists = node.items.map(allTexts);
      const texts = lists.flatMap((list) => list ?? []);
      return lists.includes(undefined) || texts.length > maxTexts ? undefined : texts;
    }
    case 'concat': {
      let texts: readonly string[] = [''];
      for (const item of node.items) {
        const tails = allTexts(item);
        if (tails === undefined || texts.length * tails.length > maxTexts) return undefined;
        texts = texts.flatMap((head) => tails.map((tail) => head + tail));
      }
      return texts;
    }
    case 'any':
    case 'any-not-lf':
    case 'assert':
    case 'capture':
    case 'repeat':
      return undefined;
  }
}

/** The cost of trying a pattern at one position: paths through it, and code points on the longest one. */
interface Cost {
  readonly paths: number;
  readonly length: number;
}

/**
 * Tells whether a backtracking search is linear in the text: the work at any position is bounded, except for one repeated set at the very
 * end, after which nothing can fail.
 */
export function isBoundedSearch(node: RegExpNode): boolean {
  const items = flatten(node);
  const last = items.at(-1);
  const isRun = last?.op === 'repeat' && last.max === Infinity && isSingle(last.item);
  const head = isRun ? items.slice(0, -1) : items;
  const cost = costOf({ op: 'concat', items: head });
  return cost !== undefined && (!isRun || last.min <= maxLength);
}

/** Maximum number of steps that a backtracking search for such a pattern takes per position in a text. */
export function searchWork(node: RegExpNode): number {
  const cost = costOf(node);
  return cost === undefined ? 1 : Math.max(1, cost.paths * cost.length);
}

/**
 * Tells whether a pattern that can only match from the start of the text is linear: every repeated set is followed by a code point outside
 * that set (or by the end), so backtracking never helps.
 */
export function isDeterministicFromStart(node: RegExpNode): boolean {
  const items = flatten(node);
  return items.every((item, index) => {
    if (item.op !== 'repeat' || item.max !== Infinity)
      return costOf(item) !== undefined && (isSingle(item) || item.op === 'literal' || item.op === 'assert');
    const set = setOf(item.item);
    if (set === undefined || item.min > maxLength) return false;
    const next = items[index + 1];
    return next === undefined || endsText(next) || areDisjoint(set, firstOf(next));
  });
}

/** True when a pattern can match the empty text. */
export function canBeEmpty(node: RegExpNode): boolean {
  switch (node.op) {
    case 'literal':
    case 'class':
    case 'any':
    case 'any-not-lf':
      return false;
    case 'assert':
    case 'empty':
      return true;
    case 'capture':
      return canBeEmpty(node.item);
    case 'repeat':
      return node.min === 0 || canBeEmpty(node.item);
    case 'concat':
      return node.items.every(canBeEmpty);
    case 'alternate':
      return node.items.some(canBeEmpty);
  }
}

/** The sequence of nodes that must match. Groups are flattened, because they do not affect matching. */
function flatten(node: RegExpNode): readonly RegExpNode[] {
  if (node.op === 'capture') return flatten(node.item);
  if (node.op === 'empty') return [];
  return node.op === 'concat' ? node.items.flatMap(flatten) : [node];
}

function endsText(node: RegExpNode): boolean {
  return node.op === 'assert' && node.test === 'end';
}

/** The set that the next code point must be in; every code point if that is not obvious. */
function firstOf(node: RegExpNode): CharSet {
  if (node.op === 'literal') return setOfChar(node.text, node.folds);
  const one = node.op === 'repeat' && node.min > 0 ? node.item : node;
  return setOf(one) ?? anyChar;
}

function costOf(node: RegExpNode): Cost | undefined {
  switch (node.op) {
    case 'literal':
      return bounded({ paths: 1, length: Array.from(node.text).length });
    case 'class':
    case 'any':
    case 'any-not-lf':
      return { paths: 1, length: 1 };
    case 'assert':
    case 'empty':
      return { paths: 1, length: 0 };
    case 'capture':
      return costOf(node.item);
    case 'concat':
      return combine(node.items, { paths: 1, length: 0 }, (a, b) => ({
        paths: a.paths * b.paths,
        length: a.length + b.length,
      }));
    case 'alternate':
      return combine(node.items, { paths: 0, length: 0 }, (a, b) => ({
        paths: a.paths + b.paths,
        length: Math.max(a.length, b.length),
      }));
    case 'repeat':
      // The captures of a repeated group differ between engines, so only single code points may be repeated.
      return isSingle(node.item) && node.max <= maxLength
        ? bounded({ paths: node.max - node.min + 1, length: node.max })
        : undefined;
  }
}

function combine(
  nodes: readonly RegExpNode[],
  start: Cost,
  join: (a: Cost, b: Cost) => Cost,
): Cost | undefined {
  let total: Cost | undefined = start;
  for (const node of nodes) {
    const cost = costOf(node);
    total = cost === undefined || total === undefined ? undefined : bounded(join(total, cost));
  }
  return total;
}

function bounded(cost: Cost): Cost | undefined {
  return cost.paths * cost.length <= maxWork ? cost : undefined;
}
