import { controls, complementOf, perlClasses, unionOf, type CharSet } from './char-set.js';
import { firstCaseOf, withCases } from './folding.js';
import { changedFlags, closed, endAlternative, opened, type Flags, type OpenGroup } from './open-group.js';
import { pushed, type Assertion, type RegExpNode } from './tree.js';

/** Everything about a pattern, from one pass over its text. */
export interface ParsedRegExp {
  readonly root: RegExpNode;
  /** False for a pattern that RE2 refuses, or whose syntax is not supported here; the tree is then incomplete. */
  readonly isValid: boolean;
  /** True if the tree is a complete description of the pattern: its sets are known, and its syntax is common. */
  readonly isExact: boolean;
  readonly named: readonly NamedGroup[];
  /** The cost of parsing its classes, in instructions of the automaton: a Unicode class is as expensive as many characters. */
  readonly reading: number;
  /** True if the pattern has more items than `mostItems`; the rest was not read. */
  readonly isCut: boolean;
}

/** A named group: its number, and the position in the pattern of the text from `?` to `>`. */
export interface NamedGroup {
  readonly name: string;
  readonly group: number;
  readonly start: number;
  readonly end: number;
}

let last: { readonly pattern: string; readonly dotAll: boolean; readonly parsed: ParsedRegExp } | undefined;

/**
 * Parses RE2's syntax into Go's tree; it never throws. The last result is cached, because planning and running a query parse the same
 * pattern several times.
 * @param mostItems bounds the work for a pattern that may be refused because of its size
 */
export function parseRegExp(pattern: string, dotAll = false, mostItems = Infinity): ParsedRegExp {
  if (last?.pattern === pattern && last.dotAll === dotAll && !(last.parsed.isCut && mostItems === Infinity))
    return last.parsed;
  const parsed = new PatternParser(pattern, dotAll, mostItems).parse();
  last = { pattern, dotAll, parsed };
  return parsed;
}

/** The tree of a pattern if it is a complete description; undefined for patterns that only the automaton of RE2 can handle. */
export function exactTree(pattern: string, dotAll = false): RegExpNode | undefined {
  const { root, isValid, isExact } = parseRegExp(pattern, dotAll);
  return isValid && isExact ? root : undefined;
}

/**
 * Renames the named groups of a valid pattern.
 * @param start the text that follows the parenthesis of a group in place of `?P<name>`
 */
export function renameGroups(pattern: string, start: (name: string) => string): string {
  let from = 0;
  let renamed = '';
  for (const group of parseRegExp(pattern).named) {
    renamed += pattern.slice(from, group.start) + start(group.name);
    from = group.end;
  }
  return renamed + pattern.slice(from);
}

/** Replaces half of a surrogate pair, which is not a character. */
const replacement = 0xfffd;
const exactDepth = 50;
/** Bounds the depth of the tree, and so of recursive calls on it. */
const mostDepth = 250;
const unicodeClassCost = 30;
const assertions: ReadonlyMap<string, Assertion> = new Map([
  ['A', 'begin'],
  ['z', 'end'],
  ['b', 'word'],
  ['B', 'not-word'],
]);
const groupName = /\?P?<([^>]*)>/y;
const groupFlags = /\?([imsU]*)(?:-([imsU]+))?([:)])/y;
const counted = /\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}/y;
const octal = /\\([1-7][0-7]{1,2}|0[0-7]{0,2})/y;
const hexadecimal = /\\x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]{1,8})\})/y;
const punctuation = /[!-/:-@[-`{-~ \u0000-\u001f\u007f]/;
const unicodeGroup = /\\[pP](?:\{[^}]*\}|[^])/uy;
const posixGroup = /\[:\^?[a-z]+:\]/y;

/** Parses with an explicit stack: groups need no call depth. */
class PatternParser {
  readonly #pattern: string;
  readonly #mostItems: number;
  readonly #open: OpenGroup[] = [];
  readonly #named: NamedGroup[] = [];
  /** Flags outside groups that are nested too deeply for a node of their own. */
  readonly #unopened: Flags[] = [];
  #at = 0;
  #flagsEnd = -1;
  #items = 0;
  #groups = 0;
  #reading = 0;
  #isValid = true;
  #isExact = true;
  #flags: Flags;
  #group: OpenGroup;

  constructor(pattern: string, dotAll: boolean, mostItems: number) {
    this.#pattern = pattern;
    this.#mostItems = mostItems;
    this.#flags = { folds: false, dotAll, manyLines: false, ungreedy: false };
    this.#group = opened(false, undefined, this.#flags);
  }

  parse(): ParsedRegExp {
    while (this.#at < this.#pattern.length && this.#items <= this.#mostItems) this.#step();
    const isCut = this.#at < this.#pattern.length;
    if (this.#open.length > 0) this.#isValid = false;
    while (this.#open.length + this.#unopened.length > 0) this.#closeGroup();
    const root = closed(this.#group);
    const isValid = this.#isValid && !isCut;
    const [named, reading] = [this.#named, this.#reading];
    return { root, isValid, isExact: this.#isExact, named, reading, isCut };
  }

  /** Reads the next item of the pattern. */
  #step(): void {
    const char = this.#pattern.charAt(this.#at);
    // A repetition after flags, as in `a(?s){2}`, applies to the item before them.
    if (this.#at === this.#flagsEnd && '*+?{'.includes(char)) this.#isExact = false;
    if (char === '(') this.#openGroup();
    else if (char === '{') this.#count();
    else if (char === '\\') this.#escape();
    else if (char === '[') this.#class();
    else if (!')|*+?.^$'.includes(char)) this.#literal(this.#nextCode());
    else {
      this.#at += 1;
      this.#operator(char);
    }
  }

  #operator(char: string): void {
    const { dotAll, manyLines } = this.#flags;
    if (char === '.') this.#push({ op: dotAll ? 'any' : 'any-not-lf' });
    else if (char === '^') this.#assert(manyLines ? 'begin-line' : 'begin');
    else if (char === '$') this.#assert(manyLines ? 'end-line' : 'end');
    else if (char === '|') {
      this.#items += 1;
      endAlternative(this.#group);
    } else if (char !== ')') this.#repeat(char === '+' ? 1 : 0, char === '?' ? 1 : Infinity);
    else if (this.#open.length === 0) this.#refuse();
    else this.#closeGroup();
  }

  #refuse(): void {
    this.#isValid = false;
    this.#items += 1;
  }

  #nextCode(): number {
    const code = this.#pattern.codePointAt(this.#at) ?? 0;
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #push(node: RegExpNode): void {
    this.#items += 1;
    this.#group.items.push(pushed(node));
  }

  #assert(test: Assertion): void {
    if (this.#flags.manyLines) this.#isExact = false;
    this.#push({ op: 'assert', test });
  }

  #literal(code: number): void {
    const { folds } = this.#flags;
    const isHalf = code >= 0xd800 && code <= 0xdfff;
    if (isHalf || (folds && code > 0x7f)) this.#isExact = false;
    const text = String.fromCodePoint(isHalf ? replacement : folds ? firstCaseOf(code) : code);
    this.#items += 1;
    this.#group.items.push({ op: 'literal', text, folds });
  }

  #openGroup(): void {
    this.#at += 1;
    this.#items += 1;
    const start = this.#at;
    const name = this.#match(groupName)?.[1];
    const flags = name === undefined ? this.#match(groupFlags) : undefined;
    if (flags !== undefined) {
      this.#changeFlags(flags);
      return;
    }
    this.#groups += 1;
    if (name !== undefined) {
      if (!/^\w+$/.test(name)) this.#isExact = false;
      this.#named.push({ name, group: this.#groups, start, end: this.#at });
    }
    this.#enter(opened(true, name, this.#flags));
  }

  #enter(group: OpenGroup): void {
    if (this.#open.length >= exactDepth) this.#isExact = false;
    if (this.#open.length >= mostDepth) {
      this.#isValid = false;
      this.#unopened.push(group.outside);
      return;
    }
    this.#open.push(this.#group);
    this.#group = group;
  }

  #changeFlags([, on = '', off = '', end]: RegExpExecArray): void {
    if (off !== '' || /[mU]/.test(on)) this.#isExact = false;
    this.#flagsEnd = this.#at;
    const outside = this.#flags;
    this.#flags = changedFlags(changedFlags(outside, on, true), off, false);
    if (end === ':') this.#enter(opened(false, undefined, outside));
  }

  #closeGroup(): void {
    const inner = this.#unopened.pop();
    if (inner !== undefined) {
      this.#flags = inner;
      return;
    }
    const group = this.#group;
    this.#group = this.#open.pop() ?? group;
    this.#flags = group.outside;
    const item = closed(group);
    this.#push(group.captures ? { op: 'capture', name: group.name, item } : item);
  }

  #count(): void {
    const found = this.#match(counted);
    if (found === undefined) {
      this.#isExact = false;
      this.#literal(this.#nextCode());
      return;
    }
    const min = Number(found[1]);
    this.#repeat(min, found[2] === undefined ? min : found[3] === '' ? Infinity : Number(found[3]));
  }

  #repeat(min: number, max: number): void {
    const isLazyHere = this.#pattern[this.#at] === '?';
    if (isLazyHere) this.#at += 1;
    const item = this.#group.items.pop();
    if (item === undefined) {
      this.#refuse();
      return;
    }
    const { ungreedy, folds } = this.#flags;
    this.#push({ op: 'repeat', item, min, max, isLazy: isLazyHere !== ungreedy, folds });
  }

  #escape(): void {
    const next = this.#pattern.charAt(this.#at + 1);
    if (next === 'Q') {
      this.#quoted();
      return;
    }
    const test = assertions.get(next);
    if (test !== undefined) {
      this.#at += 2;
      this.#push({ op: 'assert', test });
      return;
    }
    const start = this.#at;
    const group = this.#charGroup();
    if (group !== undefined) {
      this.#charge(start);
      this.#push({ op: 'class', set: group.set, source: this.#sourceFrom(start) });
      return;
    }
    const code = this.#escapedCode();
    this.#charge(start);
    if (code === undefined) {
      this.#refuse();
      return;
    }
    this.#literal(code);
  }

  #charge(start: number): void {
    const source = this.#pattern.slice(start, this.#at);
    this.#reading += source.length + unicodeClassCost * (source.match(/\\[pP]/g)?.length ?? 0);
  }

  #sourceFrom(start: number): string {
    return `${this.#flags.folds ? 'i' : ''}${this.#pattern.slice(start, this.#at)}`;
  }

  #quoted(): void {
    this.#isExact = false;
    const end = this.#pattern.indexOf('\\E', this.#at + 2);
    const until = end < 0 ? this.#pattern.length : end;
    this.#at += 2;
    while (this.#at < until && this.#items <= this.#mostItems) this.#literal(this.#nextCode());
    if (this.#at >= until) this.#at = end < 0 ? until : end + 2;
  }

  /** Reads an escape for a group of characters; its set is undefined if it is not known here. */
  #charGroup(): { readonly set: CharSet | undefined } | undefined {
    const isEscape = this.#pattern[this.#at] === '\\';
    const set = isEscape ? perlClasses.get(this.#pattern.charAt(this.#at + 1)) : undefined;
    if (set !== undefined) this.#at += 2;
    else if (!isEscape || this.#match(unicodeGroup) === undefined) return undefined;
    if (set !== undefined && !this.#flags.folds) return { set };
    this.#isExact = false;
    return { set: undefined };
  }

  /** Reads an escaped character; undefined if RE2 has no such escape. */
  #escapedCode(): number | undefined {
    const char = this.#pattern.charAt(this.#at + 1);
    const control = controls.get(char);
    if (control !== undefined || (char !== '' && punctuation.test(char))) {
      this.#at += 2;
      return control ?? char.charCodeAt(0);
    }
    const inOctal = this.#match(octal)?.[1];
    if (inOctal !== undefined) return parseInt(inOctal, 8);
    const [, short, long = ''] = this.#match(hexadecimal) ?? [];
    const code = parseInt(short ?? long, 16);
    if (code <= 0x10ffff) return code;
    if (Number.isNaN(code)) this.#at += 1 + (char === '' ? 0 : 1);
    return undefined;
  }

  #class(): void {
    const start = this.#at;
    const { folds } = this.#flags;
    if (folds) this.#isExact = false;
    const isNegated = this.#pattern[this.#at + 1] === '^';
    this.#at += isNegated ? 2 : 1;
    const ranges: [number, number][] = [];
    const sets: CharSet[] = [ranges];
    let isKnown = true;
    for (let isFirst = true; isFirst || this.#pattern[this.#at] !== ']'; isFirst = false) {
      if (this.#at >= this.#pattern.length || this.#at - start > this.#mostItems) {
        this.#charge(start);
        this.#items += this.#at - start;
        this.#refuse();
        return;
      }
      if (this.#match(posixGroup) !== undefined) {
        isKnown = false;
        continue;
      }
      const group = this.#charGroup();
      if (group === undefined) ranges.push(this.#range());
      else if (group.set === undefined) isKnown = false;
      else sets.push(group.set);
    }
    this.#at += 1;
    this.#charge(start);
    const source = this.#sourceFrom(start);
    if (!isKnown) this.#isExact = false;
    const all = isKnown ? unionOf(sets) : undefined;
    const set = all === undefined || !folds ? all : withCases(all);
    this.#push({ op: 'class', set: set !== undefined && isNegated ? complementOf(set) : set, source });
  }

  #range(): [number, number] {
    const low = this.#classCode();
    const next = this.#pattern[this.#at + 1];
    if (this.#pattern[this.#at] !== '-' || next === ']' || next === undefined) return [low, low];
    this.#at += 1;
    const high = this.#classCode();
    if (high < low) this.#refuse();
    return [low, Math.max(low, high)];
  }

  #classCode(): number {
    const char = this.#pattern[this.#at];
    // A possible class within a class is left to RE2.
    if (char === '[') this.#isExact = false;
    if (char !== '\\') return this.#nextCode();
    const code = this.#escapedCode();
    if (code === undefined) this.#refuse();
    return code ?? 0;
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#pattern);
    if (found === null) return undefined;
    this.#at += found[0].length;
    return found;
  }
}
