import { anyChar, codesOf, notLineFeed, singleChar, unionOf, type CharSet } from './char-set.js';
import { orbitOf } from './folding.js';

/**
 * A pattern as Go's parser represents it: it joins texts, factors out the prefixes of alternatives, and merges single characters into
 * classes. Equivalent patterns may have different trees, and Loki's simplification of a filter depends on the tree. Groups without captures
 * leave no node.
 */
export type RegExpNode =
  | Literal
  | CharClass
  | { readonly op: 'any' | 'any-not-lf' }
  | { readonly op: 'assert'; readonly test: Assertion }
  | { readonly op: 'empty'; readonly folds: boolean }
  | Capture
  | Repetition
  | Sequence;

export type Assertion = 'begin' | 'end' | 'begin-line' | 'end-line' | 'word' | 'not-word';

export interface Capture {
  readonly op: 'capture';
  readonly name: string | undefined;
  readonly item: RegExpNode;
}

/** `folds` is true under `(?i)`; letters are then in the first of their cases. */
export interface Literal {
  readonly op: 'literal';
  readonly text: string;
  readonly folds: boolean;
}

/** The set is undefined if it is not known here, as for Unicode classes. */
export interface CharClass {
  readonly op: 'class';
  readonly set: CharSet | undefined;
  /** The text of the class; distinguishes classes of unknown sets. */
  readonly source: string;
}

export interface Repetition {
  readonly op: 'repeat';
  readonly item: RegExpNode;
  readonly min: number;
  readonly max: number;
  readonly isLazy: boolean;
  readonly folds: boolean;
}

export interface Sequence {
  readonly op: 'concat' | 'alternate';
  readonly items: readonly RegExpNode[];
}

const lineFeed = 0x0a;

export const emptyNode: RegExpNode = { op: 'empty', folds: false };

/** The length in UTF-16 units of the first code point of a text; zero for the empty text. */
export function firstLength(text: string): number {
  return text === '' ? 0 : (text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1;
}

/** True if the node matches exactly one character. */
export function isSingle(node: RegExpNode): boolean {
  return node.op === 'literal'
    ? node.text.length === firstLength(node.text)
    : node.op === 'class' || node.op === 'any' || node.op === 'any-not-lf';
}

/** Simplifies a class of one letter, or of its two cases, to a literal. */
export function pushed(node: RegExpNode): RegExpNode {
  if (node.op !== 'class' || node.set === undefined) return node;
  const [first, second, more] = codesOf(node.set);
  if (first === undefined || more !== undefined) return node;
  if (second === undefined) return { op: 'literal', text: String.fromCodePoint(first), folds: false };
  const orbit = orbitOf(first);
  return orbit.length === 2 && orbit[1] === second
    ? { op: 'literal', text: String.fromCodePoint(first), folds: true }
    : node;
}

/** Simplifies a class of all characters, or of all but line feeds, to a dot. */
export function cleaned(node: RegExpNode): RegExpNode {
  if (node.op !== 'class' || node.set === undefined) return node;
  if (isSame(node.set, anyChar)) return { op: 'any' };
  return isSame(node.set, notLineFeed) ? { op: 'any-not-lf' } : node;
}

/** Merges adjacent alternatives of one character each into one node. */
export function mergedSingles(run: readonly RegExpNode[]): RegExpNode {
  const [first = emptyNode] = run;
  const sets = run.map(setOf);
  const dots = run.filter(({ op }) => op === 'any' || op === 'any-not-lf');
  if (dots.length > 0) {
    const isAny = sets.some((set) => set?.some(([from, to]) => from <= lineFeed && to >= lineFeed) === true);
    return { op: isAny ? 'any' : 'any-not-lf' };
  }
  if (run.every((one) => isSameLiteral(one, first))) return cleaned(first);
  const isKnown = !sets.includes(undefined);
  return cleaned({
    op: 'class',
    set: isKnown ? unionOf(sets.map((set) => set ?? [])) : undefined,
    source: isKnown ? '' : run.map(sourceOf).join(''),
  });
}

function isSameLiteral(one: RegExpNode, other: RegExpNode): boolean {
  if (one === other) return true;
  return (
    one.op === 'literal' && other.op === 'literal' && one.text === other.text && one.folds === other.folds
  );
}

/** The set of a node that matches one character; undefined for other nodes, and for sets that are not known here. */
export function setOf(node: RegExpNode): CharSet | undefined {
  switch (node.op) {
    case 'class':
      return node.set;
    case 'literal':
      return node.text.length === firstLength(node.text) ? setOfChar(node.text, node.folds) : undefined;
    case 'any':
      return anyChar;
    case 'any-not-lf':
      return notLineFeed;
    default:
      return undefined;
  }
}

/** The set of the first character of a literal. */
export function setOfChar(text: string, folds: boolean): CharSet {
  const code = text.codePointAt(0) ?? 0;
  return folds ? unionOf(orbitOf(code).map(singleChar)) : singleChar(code);
}

function sourceOf(node: RegExpNode): string {
  return node.op === 'literal' ? node.text : node.op === 'class' ? classKey(node) : '';
}

function classKey({ set, source }: CharClass): string {
  return set === undefined ? source : set.join(';');
}

function isSame(one: CharSet, other: CharSet): boolean {
  return (
    one.length === other.length &&
    one.every(([low, high], at) => other[at]?.[0] === low && other[at][1] === high)
  );
}

/** True if alternatives that begin with these nodes have a prefix in common. */
export function isSameStart(one: RegExpNode, other: RegExpNode): boolean {
  if (one.op === 'repeat' && other.op === 'repeat') {
    const { min, max, isLazy } = other;
    const isCounted = one.min === one.max && one.min !== Infinity;
    return (
      isCounted &&
      one.min === min &&
      one.max === max &&
      one.isLazy === isLazy &&
      isSameStart(one.item, other.item)
    );
  }
  if (!isSingle(one) || one.op !== other.op) return false;
  if (one.op === 'literal') return other.op === 'literal' && one.text === other.text;
  return one.op !== 'class' || (other.op === 'class' && classKey(one) === classKey(other));
}
