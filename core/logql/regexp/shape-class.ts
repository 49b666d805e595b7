import { complementOf, controls, perlClasses, unionOf, type CharSet } from './char-set.js';
import { orbitOf } from './folding.js';
import { codesOf } from './shape.js';

interface ReadClass {
  /** Undefined where it is not known here which characters are in it. */
  readonly set: CharSet | undefined;
  readonly source: string;
  readonly end: number;
}

const octal = /\\([1-7][0-7]{1,2}|0[0-7]{0,2})/y;
const hexadecimal = /\\x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]+)\})/y;
const punctuation = /[!-/:-@[-`{-~ \u0000-\u001f\u007f]/;
const unicodeGroup = /\\[pP](?:\{[^}]*\}|[^])/uy;
const posixGroup = /\[:\^?[a-z]+:\]/y;
/** More characters than these in a class leave it one, whatever their cases. */
const foldable = 2;

/** Reads the classes and escapes of a pattern. */
export class ClassReader {
  readonly #pattern: string;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** A group of characters behind a backslash. */
  group(at: number, folds: boolean): ReadClass | undefined {
    const set = this.#pattern[at] === '\\' ? perlClasses.get(this.#pattern.charAt(at + 1)) : undefined;
    if (set !== undefined) {
      const source = `${folds ? 'i' : ''}${this.#pattern.slice(at, at + 2)}`;
      return { set: folds ? undefined : set, source, end: at + 2 };
    }
    const found = matchAt(unicodeGroup, this.#pattern, at);
    return found === undefined
      ? undefined
      : { set: undefined, source: `${folds ? 'i' : ''}${found[0]}`, end: at + found[0].length };
  }

  /** An escaped character. */
  escape(at: number): { readonly code: number; readonly end: number } | undefined {
    const char = this.#pattern.charAt(at + 1);
    const control = controls.get(char);
    if (control !== undefined) return { code: control, end: at + 2 };
    if (char !== '' && punctuation.test(char)) return { code: char.charCodeAt(0), end: at + 2 };
    const inOctal = matchAt(octal, this.#pattern, at);
    if (inOctal !== undefined) return { code: parseInt(inOctal[1] ?? '', 8), end: at + inOctal[0].length };
    const found = matchAt(hexadecimal, this.#pattern, at);
    if (found === undefined) return undefined;
    return { code: parseInt(found[1] ?? found[2] ?? '', 16), end: at + found[0].length };
  }

  /** A class in brackets. */
  class(from: number, folds: boolean): ReadClass | undefined {
    const isNegated = this.#pattern[from + 1] === '^';
    const start = from + (isNegated ? 2 : 1);
    const sets: CharSet[] = [];
    let isKnown = true;
    let at = start;
    while (at === start || this.#pattern[at] !== ']') {
      const posix = matchAt(posixGroup, this.#pattern, at)?.[0];
      const group = posix === undefined ? this.group(at, folds) : undefined;
      if (posix !== undefined || (group?.set === undefined && group !== undefined)) isKnown = false;
      if (group?.set !== undefined) sets.push(group.set);
      const end = posix === undefined ? group?.end : at + posix.length;
      if (end !== undefined) {
        at = end;
        continue;
      }
      const range = this.#range(at);
      if (range === undefined) return undefined;
      sets.push([[range.low, range.high]]);
      at = range.end;
    }
    const source = `${folds ? 'i' : ''}${this.#pattern.slice(from, at + 1)}`;
    if (!isKnown) return { set: undefined, source, end: at + 1 };
    const set = folds ? folded(unionOf(...sets)) : unionOf(...sets);
    return { set: isNegated ? complementOf(set) : set, source, end: at + 1 };
  }

  #range(at: number): { low: number; high: number; end: number } | undefined {
    const low = this.#char(at);
    if (low === undefined) return undefined;
    const next = this.#pattern[low.end + 1];
    if (this.#pattern[low.end] !== '-' || next === ']' || next === undefined)
      return { low: low.code, high: low.code, end: low.end };
    const high = this.#char(low.end + 1);
    return high === undefined ? undefined : { low: low.code, high: high.code, end: high.end };
  }

  #char(at: number): { readonly code: number; readonly end: number } | undefined {
    if (this.#pattern[at] === '\\') return this.escape(at);
    const code = this.#pattern.codePointAt(at);
    return code === undefined ? undefined : { code, end: at + (code > 0xffff ? 2 : 1) };
  }
}

/** A small class with the other cases of its letters; a large one is a class anyway. */
function folded(set: CharSet): CharSet {
  const codes = codesOf(set, foldable + 1);
  if (codes.length > foldable) return set;
  return unionOf(...codes.flatMap(orbitOf).map((code): CharSet => [[code, code]]));
}

function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | undefined {
  expression.lastIndex = at;
  return expression.exec(text) ?? undefined;
}
