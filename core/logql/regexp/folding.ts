import { addTo } from '../../base/order.js';
import { codesOf, singleChar, unionOf, type CharSet } from './char-set.js';

/**
 * Letters and their cases as in Go's unicode package: each code point maps to one code point, whereas JavaScript's methods map some
 * characters to several.
 */

/** Ranges that contain all letters with cases. */
const casedRanges: readonly (readonly [number, number])[] = [
  [0x41, 0x24ff],
  [0x2c00, 0x2dff],
  [0xa640, 0xabff],
  [0xff21, 0xff5a],
  [0x10400, 0x10dff],
  [0x118a0, 0x118df],
  [0x16e40, 0x16e7f],
  [0x1e900, 0x1e943],
];
const dotlessI = 0x131;

interface Cases {
  /** All spellings of a letter in any case, in ascending order. */
  readonly orbits: ReadonlyMap<number, readonly number[]>;
  /** The code points whose lower case is this one. */
  readonly lowered: ReadonlyMap<number, readonly number[]>;
}

let known: Cases | undefined;

function cases(): Cases {
  return (known ??= readCases());
}

function readCases(): Cases {
  const groups = new Map<number, number[]>();
  const lowered = new Map<number, number[]>();
  for (const [from, to] of casedRanges) {
    for (let code = from; code <= to; code += 1) {
      // In Go the dotless i has no other case.
      const upper = code === dotlessI ? code : single(String.fromCodePoint(code).toUpperCase(), code);
      const key = code === 0x130 ? code : lowerOf(upper);
      addTo(groups, key, code);
      addTo(lowered, lowerOf(code), code);
    }
  }
  const orbits = new Map<number, readonly number[]>();
  for (const group of groups.values()) {
    if (group.length > 1) for (const code of group) orbits.set(code, group);
  }
  return { orbits, lowered };
}

function single(text: string, otherwise: number): number {
  const code = text.codePointAt(0) ?? otherwise;
  return String.fromCodePoint(code) === text ? code : otherwise;
}

/** The lower case of a code point; that of the capital I with a dot is the plain i. */
export function lowerOf(code: number): number {
  if (code < 0x80) return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
  return String.fromCodePoint(code).toLowerCase().codePointAt(0) ?? code;
}

/** A text in lower case, as in Go. */
export function lowered(text: string): string {
  return Array.from(text, (char) => String.fromCodePoint(lowerOf(char.codePointAt(0) ?? 0))).join('');
}

/** The code points whose lower case is this one. */
export function loweredTo(code: number): readonly number[] {
  return cases().lowered.get(code) ?? (lowerOf(code) === code ? [code] : []);
}

/** All spellings of a letter in any case, in ascending order. */
export function orbitOf(code: number): readonly number[] {
  if (code < 0x80 && !/[a-z]/i.test(String.fromCharCode(code))) return [code];
  return cases().orbits.get(code) ?? [code];
}

/** The first spelling of a letter, which Go uses in literals that ignore case. */
export function firstCaseOf(code: number): number {
  if (code < 0x80) return code >= 0x61 && code <= 0x7a ? code - 0x20 : code;
  return orbitOf(code)[0] ?? code;
}

/** Maximum number of characters in a class that can become a literal; larger ones stay classes, whatever their cases. */
const foldable = 2;

/** Adds the other cases of its letters to a small class; a large one stays a class anyway. */
export function withCases(set: CharSet): CharSet {
  const codes = codesOf(set, foldable + 1);
  if (codes.length > foldable) return set;
  return unionOf(codes.flatMap(orbitOf).map(singleChar));
}
