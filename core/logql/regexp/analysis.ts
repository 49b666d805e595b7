import { areDisjoint, onlyChar, type CharSet } from './char-set.js';
import type { RegExpNode } from './tree.js';

const maxTexts = 64;
const maxLength = 512;
/** Bounds the work at one position in a text: paths through the pattern times the length of the longest. */
const maxWork = 512;

/** All texts that a pattern can match, in order of preference; undefined when it is not an alternation of plain texts. */
export function allTexts(node: RegExpNode): readonly string[] | undefined {
  switch (node.kind) {
    case 'chars': {
      const code = node.isClass ? undefined : onlyChar(node.set);
      return code === undefined ? undefined : [String.fromCodePoint(code)];
    }
    case 'group':
      return node.captures ? undefined : allTexts(node.item);
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
    case 'assert':
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
 * Whether a backtracking search is linear in the text: the work at any position is bounded, except for one repeated set at the very end,
 * after which nothing can fail.
 */
export function isBoundedSearch(node: RegExpNode): boolean {
  const items = flatten(node);
  const last = items.at(-1);
  const isRun = last?.kind === 'repeat' && last.max === Infinity && last.item.kind === 'chars';
  const head = isRun ? items.slice(0, -1) : items;
  const cost = costOf({ kind: 'concat', items: head });
  return cost !== undefined && (!isRun || last.min <= maxLength);
}

/** The most steps that a backtracking search for such a pattern takes per position in a text. */
export function searchWork(node: RegExpNode): number {
  const cost = costOf({ kind: 'concat', items: flatten(node) });
  return cost === undefined ? 1 : Math.max(1, cost.paths * cost.length);
}

/**
 * Whether a pattern that can only match from the start of the text is linear: every repeated set is followed by a code point outside that
 * set (or by the end), so backtracking never helps.
 */
export function isDeterministicFromStart(node: RegExpNode): boolean {
  const items = flatten(node);
  return items.every((item, index) => {
    if (item.kind !== 'repeat' || item.max !== Infinity) return costOf(item) !== undefined && isSingle(item);
    if (item.item.kind !== 'chars' || item.min > maxLength) return false;
    const next = items[index + 1];
    return next === undefined || endsText(next) || areDisjoint(item.item.set, firstOf(next));
  });
}

/** Whether a pattern can match the empty text. */
export function canBeEmpty(node: RegExpNode): boolean {
  switch (node.kind) {
    case 'chars':
      return false;
    case 'assert':
      return true;
    case 'group':
      return canBeEmpty(node.item);
    case 'repeat':
      return node.min === 0 || canBeEmpty(node.item);
    case 'concat':
      return node.items.every(canBeEmpty);
    case 'alternate':
      return node.items.some(canBeEmpty);
  }
}

/** The sequence of nodes that must match; groups are flattened because they do not change what is tried. */
function flatten(node: RegExpNode): readonly RegExpNode[] {
  if (node.kind === 'group') return flatten(node.item);
  return node.kind === 'concat' ? node.items.flatMap(flatten) : [node];
}

function isSingle(node: RegExpNode): boolean {
  return node.kind === 'chars' || node.kind === 'assert';
}

function endsText(node: RegExpNode): boolean {
  return node.kind === 'assert' && node.test === 'end';
}

/** The set that the next code point must be in; every code point when that is not obvious. */
function firstOf(node: RegExpNode): CharSet {
  if (node.kind === 'chars') return node.set;
  if (node.kind === 'repeat' && node.min > 0 && node.item.kind === 'chars') return node.item.set;
  return [[0, 0x10ffff]];
}

function costOf(node: RegExpNode): Cost | undefined {
  switch (node.kind) {
    case 'chars':
      return { paths: 1, length: 1 };
    case 'assert':
      return { paths: 1, length: 0 };
    case 'group':
      return costOf(node.item);
    case 'concat':
      return combine(node.items, (a, b) => ({ paths: a.paths * b.paths, length: a.length + b.length }), {
        paths: 1,
        length: 0,
      });
    case 'alternate':
      return combine(
        node.items,
        (a, b) => ({ paths: a.paths + b.paths, length: Math.max(a.length, b.length) }),
        {
          paths: 0,
          length: 0,
        },
      );
    case 'repeat': {
      // The captures of a repeated group differ between engines, so only single code points may be repeated.
      if (node.item.kind !== 'chars' || node.max > maxLength) return undefined;
      return bounded({ paths: node.max - node.min + 1, length: node.max });
    }
  }
}

function combine(
  nodes: readonly RegExpNode[],
  join: (a: Cost, b: Cost) => Cost,
  start: Cost,
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
