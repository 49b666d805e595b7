import { anyChar, notLineFeed, unionOf, type CharSet } from './char-set.js';
import { orbitOf } from './folding.js';

/**
 * A pattern in the shape that Go's parser gives it: which texts it joins, which prefixes of alternatives it takes out, which single
 * characters it makes a class of. Patterns of one meaning have several shapes, and what Loki makes of a filter depends on the shape.
 */
export type Shape =
  | LiteralShape
  | ClassShape
  | { readonly op: 'any' | 'any-not-lf' }
  | { readonly op: 'assert'; readonly test: string }
  | { readonly op: 'empty'; readonly folds: boolean }
  | { readonly op: 'capture'; readonly item: Shape }
  | RepetitionShape
  | SequenceShape;

/** `folds` is true under `(?i)`; letters are then in the first of their cases. */
export interface LiteralShape {
  readonly op: 'literal';
  readonly text: string;
  readonly folds: boolean;
}

/** The set is undefined where it is not known here, as for Unicode's groups. */
export interface ClassShape {
  readonly op: 'class';
  readonly set: CharSet | undefined;
  /** How the class was written; tells classes of unknown sets apart. */
  readonly source: string;
}

export interface RepetitionShape {
  readonly op: 'repeat';
  readonly item: Shape;
  readonly min: number;
  readonly max: number;
  readonly isLazy: boolean;
  readonly folds: boolean;
}

export interface SequenceShape {
  readonly op: 'concat' | 'alternate';
  readonly items: readonly Shape[];
}

const lineFeed = 0x0a;

export const emptyShape: Shape = { op: 'empty', folds: false };

/** How many units the first code point of a text has; zero for the empty text. */
export function firstLength(text: string): number {
  return text === '' ? 0 : (text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1;
}

/** Whether it is about exactly one character. */
export function isSingle(shape: Shape): boolean {
  return shape.op === 'literal'
    ? shape.text.length === firstLength(shape.text)
    : shape.op === 'class' || shape.op === 'any' || shape.op === 'any-not-lf';
}

/** A class of one letter, or of its two cases, is a literal. */
export function pushed(shape: Shape): Shape {
  if (shape.op !== 'class' || shape.set === undefined) return shape;
  const [first, second, more] = codesOf(shape.set);
  if (first === undefined || more !== undefined) return shape;
  if (second === undefined) return { op: 'literal', text: String.fromCodePoint(first), folds: false };
  const orbit = orbitOf(first);
  return orbit.length === 2 && orbit[1] === second
    ? { op: 'literal', text: String.fromCodePoint(first), folds: true }
    : shape;
}

/** The first few code points of a set. */
export function codesOf(set: CharSet, most = 3): readonly number[] {
  const codes: number[] = [];
  for (const [low, high] of set) {
    for (let code = low; code <= high; code += 1) {
      if (codes.length === most) return codes;
      codes.push(code);
    }
  }
  return codes;
}

/** A class of every character, or of all but line feeds, is what a dot means. */
export function cleaned(shape: Shape): Shape {
  if (shape.op !== 'class' || shape.set === undefined) return shape;
  if (isSame(shape.set, anyChar)) return { op: 'any' };
  return isSame(shape.set, notLineFeed) ? { op: 'any-not-lf' } : shape;
}

/** One shape for neighbouring alternatives of one character each. */
export function mergedSingles(run: readonly Shape[]): Shape {
  const [first = emptyShape] = run;
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
    set: isKnown ? unionOf(...sets.map((set) => set ?? [])) : undefined,
    source: isKnown ? '' : run.map(sourceOf).join(''),
  });
}

function isSameLiteral(one: Shape, other: Shape): boolean {
  if (one === other) return true;
  return (
    one.op === 'literal' && other.op === 'literal' && one.text === other.text && one.folds === other.folds
  );
}

function setOf(shape: Shape): CharSet | undefined {
  switch (shape.op) {
    case 'class':
      return shape.set;
    case 'literal': {
      const code = shape.text.codePointAt(0) ?? 0;
      return shape.folds ? unionOf(...orbitOf(code).map((one): CharSet => [[one, one]])) : [[code, code]];
    }
    case 'any':
      return anyChar;
    case 'any-not-lf':
      return notLineFeed;
    default:
      return undefined;
  }
}

function sourceOf(shape: Shape): string {
  return shape.op === 'literal' ? shape.text : shape.op === 'class' ? classKey(shape) : '';
}

function classKey({ set, source }: ClassShape): string {
  return set === undefined ? source : set.join(';');
}

function isSame(one: CharSet, other: CharSet): boolean {
  return (
    one.length === other.length &&
    one.every(([low, high], at) => other[at]?.[0] === low && other[at][1] === high)
  );
}

/** Whether alternatives that begin with these have a prefix in common. */
export function isSameStart(one: Shape, other: Shape): boolean {
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
