import {
  anyChar,
  complementOf,
  controls,
  foldChar,
  notLineFeed,
  perlClasses,
  singleChar,
  unionOf,
  type CharSet,
} from './char-set.js';
import type { RegExpNode } from './tree.js';

interface Flags {
  readonly fold: boolean;
  readonly dotAll: boolean;
}

/** Thrown when a pattern uses syntax that is not supported here. */
class Unknown extends Error {}

const asserts: ReadonlyMap<string, 'begin' | 'end' | 'word' | 'not-word'> = new Map([
  ['A', 'begin'],
  ['z', 'end'],
  ['b', 'word'],
  ['B', 'not-word'],
]);
const maxDepth = 50;

/** Parses a pattern that RE2 accepts; undefined when it contains something that the fast engines leave to RE2. */
export function parseRegExp(pattern: string, dotAll: boolean): RegExpNode | undefined {
  try {
    return new PatternParser(pattern, { fold: false, dotAll }).parse();
  } catch (error) {
    if (error instanceof Unknown) return undefined;
    throw error;
  }
}

class PatternParser {
  readonly #chars: readonly string[];
  #at = 0;
  #flags: Flags;
  #depth = 0;

  constructor(pattern: string, flags: Flags) {
    this.#chars = Array.from(pattern);
    this.#flags = flags;
  }

  parse(): RegExpNode {
    const node = this.#alternate();
    if (this.#at < this.#chars.length) throw new Unknown();
    return node;
  }

  #alternate(): RegExpNode {
    if (++this.#depth > maxDepth) throw new Unknown();
    const items = [this.#concat()];
    while (this.#take('|')) items.push(this.#concat());
    this.#depth--;
    const [only] = items;
    return items.length === 1 && only !== undefined ? only : { kind: 'alternate', items };
  }

  #concat(): RegExpNode {
    const items: RegExpNode[] = [];
    for (let char = this.#peek(); char !== '' && char !== '|' && char !== ')'; char = this.#peek()) {
      const atom = this.#atom();
      if (atom !== undefined) items.push(this.#repeated(atom));
    }
    return { kind: 'concat', items };
  }

  #repeated(item: RegExpNode): RegExpNode {
    const bounds = this.#bounds();
    if (bounds === undefined) return item;
    const isLazy = this.#take('?');
    // RE2 either refuses a second quantifier or folds it into the first one.
    if (this.#bounds() !== undefined) throw new Unknown();
    return { kind: 'repeat', item, ...bounds, isLazy };
  }

  #bounds(): { min: number; max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Infinity };
    if (this.#take('+')) return { min: 1, max: Infinity };
    if (this.#take('?')) return { min: 0, max: 1 };
    if (this.#peek() !== '{') return undefined;
    const text = this.#chars.slice(this.#at, this.#at + 16).join('');
    const [all, low, comma, high] = /^\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}/.exec(text) ?? [];
    if (all === undefined) throw new Unknown();
    this.#at += all.length;
    const min = Number(low);
    if (comma === undefined) return { min, max: min };
    return { min, max: high === '' ? Infinity : Number(high) };
  }

  /** Undefined for a group that only sets flags. */
  #atom(): RegExpNode | undefined {
    const char = this.#next();
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return { kind: 'chars', set: this.#class(), folded: this.#flags.fold, isClass: true };
      case '.':
        return chars(this.#flags.dotAll ? anyChar : notLineFeed);
      case '^':
        return { kind: 'assert', test: 'begin' };
      case '$':
        return { kind: 'assert', test: 'end' };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
      // Behind flags, as in `a(?s){2}`, it repeats what stands before them.
      case '{':
        throw new Unknown();
      default:
        return this.#literal(char.codePointAt(0) ?? 0);
    }
  }

  #literal(code: number): RegExpNode {
    if (!this.#flags.fold) return { kind: 'chars', set: singleChar(code), folded: false, isClass: false };
    const set = foldChar(code);
    if (set === undefined) throw new Unknown();
    return { kind: 'chars', set, folded: true, isClass: false };
  }

  #escape(): RegExpNode {
    const char = this.#peek();
    const set = perlClasses.get(char);
    if (set !== undefined) {
      this.#at++;
      if (this.#flags.fold) throw new Unknown();
      return chars(set);
    }
    const test = asserts.get(char);
    if (test !== undefined) {
      this.#at++;
      return { kind: 'assert', test };
    }
    return this.#literal(this.#escapedChar());
  }

  /** An escaped character that means one code point. */
  #escapedChar(): number {
    const char = this.#next();
    const control = controls.get(char);
    if (control !== undefined) return control;
    if (/^[!-/:-@[-`{-~]$/.test(char)) return char.charCodeAt(0);
    const hex =
      char === 'x' ? /^[0-9a-fA-F]{2}/.exec(this.#chars.slice(this.#at, this.#at + 2).join('')) : null;
    if (hex === null) throw new Unknown();
    this.#at += 2;
    return parseInt(hex[0], 16);
  }

  #group(): RegExpNode | undefined {
    const outside = this.#flags;
    let captures = true;
    if (this.#take('?')) {
      const head = this.#chars.slice(this.#at, this.#at + 80).join('');
      const [name] = /^P?<[A-Za-z0-9_]+>/.exec(head) ?? [];
      if (name !== undefined) {
        this.#at += name.length;
      } else {
        const [all, flags = '', end] = /^([is]*)([:)])/.exec(head) ?? [];
        if (all === undefined) throw new Unknown();
        this.#at += all.length;
        this.#flags = {
          fold: outside.fold || flags.includes('i'),
          dotAll: outside.dotAll || flags.includes('s'),
        };
        if (end === ')') return undefined;
        captures = false;
      }
    }
    const item = this.#alternate();
    if (!this.#take(')')) throw new Unknown();
    this.#flags = outside;
    return { kind: 'group', captures, item };
  }

  #class(): CharSet {
    if (this.#flags.fold) throw new Unknown();
    const isNegated = this.#take('^');
    const sets: CharSet[] = [];
    for (let isFirst = true; isFirst || this.#peek() !== ']'; isFirst = false) {
      const perl = this.#peek() === '\\' ? perlClasses.get(this.#chars[this.#at + 1] ?? '') : undefined;
      if (perl !== undefined) {
        this.#at += 2;
        sets.push(perl);
        continue;
      }
      const low = this.#classChar();
      const isRange = this.#peek() === '-' && this.#chars[this.#at + 1] !== ']';
      if (isRange) this.#at++;
      sets.push([[low, isRange ? this.#classChar() : low]]);
    }
    this.#at++;
    const set = unionOf(...sets);
    return isNegated ? complementOf(set) : set;
  }

  #classChar(): number {
    const char = this.#next();
    // Nested classes, and what looks like one, are left to RE2.
    if (char === '[') throw new Unknown();
    return char === '\\' ? this.#escapedChar() : (char.codePointAt(0) ?? 0);
  }

  #peek(): string {
    return this.#chars[this.#at] ?? '';
  }

  #next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw new Unknown();
    return char;
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at++;
    return true;
  }
}

function chars(set: CharSet): RegExpNode {
  return { kind: 'chars', set, folded: false, isClass: true };
}
