import { ClassReader } from './shape-class.js';
import { firstCaseOf } from './folding.js';
import { emptyShape, pushed, type Shape } from './shape.js';
import { sequence, withMergedSingles } from './shape-alternation.js';

interface Flags {
  readonly folds: boolean;
  readonly dotAll: boolean;
  readonly manyLines: boolean;
  readonly ungreedy: boolean;
}

/** A group that is being read. */
interface Open {
  readonly captures: boolean;
  readonly outside: Flags;
  readonly alternatives: Shape[];
  items: Shape[];
}

const plainFlags: Flags = { folds: false, dotAll: false, manyLines: false, ungreedy: false };

/** The shape of a pattern; undefined where it is not understood here. Uses no call depth for groups. */
export function goShapeOf(pattern: string): Shape | undefined {
  return new ShapeParser(pattern).parse();
}

/** Stands for half of a surrogate pair, which is no character. */
const replacement = 0xfffd;
const asserts = 'AbBz';
const groupName = /\?P?<[^>]*>/y;
const groupFlags = /\?([imsU]*)(?:-([imsU]+))?([:)])/y;
const counted = /\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}/y;

class ShapeParser {
  readonly #pattern: string;
  readonly #open: Open[] = [];
  readonly #reader: ClassReader;
  #at = 0;
  #flags = plainFlags;
  #group: Open = opened(false, plainFlags);

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#reader = new ClassReader(pattern);
  }

  parse(): Shape | undefined {
    while (this.#at < this.#pattern.length) if (!this.#step()) return undefined;
    return this.#open.length === 0 ? closed(this.#group) : undefined;
  }

  /** Reads one part of the pattern; false when it is not understood. */
  #step(): boolean {
    const char = this.#pattern.charAt(this.#at);
    switch (char) {
      case '(':
        return this.#openGroup();
      case ')':
        return this.#closeGroup();
      case '|':
        this.#at += 1;
        endAlternative(this.#group);
        return true;
      case '*':
      case '+':
      case '?':
        this.#at += 1;
        return this.#repeat(char === '+' ? 1 : 0, char === '?' ? 1 : Infinity);
      case '{':
        return this.#count();
      case '\\':
        return this.#escape();
      case '[':
        return this.#class();
      default:
        return this.#plain(char);
    }
  }

  #plain(char: string): boolean {
    if (char === '.' || char === '^' || char === '$') {
      this.#at += 1;
      const { dotAll, manyLines } = this.#flags;
      if (char === '.') return this.#push({ op: dotAll ? 'any' : 'any-not-lf' });
      return this.#push({ op: 'assert', test: manyLines ? `${char}m` : char });
    }
    return this.#literal(this.#nextCode());
  }

  #nextCode(): number {
    const code = this.#pattern.codePointAt(this.#at) ?? 0;
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #push(shape: Shape): boolean {
    this.#group.items.push(pushed(shape));
    return true;
  }

  #literal(code: number): boolean {
    const { folds } = this.#flags;
    const text = String.fromCodePoint(isHalf(code) ? replacement : folds ? firstCaseOf(code) : code);
    this.#group.items.push({ op: 'literal', text, folds });
    return true;
  }

  #openGroup(): boolean {
    this.#at += 1;
    const name = this.#match(groupName);
    const flags = name === undefined ? this.#match(groupFlags) : undefined;
    if (flags === undefined) {
      this.#open.push(this.#group);
      this.#group = opened(true, this.#flags);
      return true;
    }
    const [, on = '', off = '', end] = flags;
    const outside = this.#flags;
    this.#flags = changed(changed(outside, on, true), off, false);
    if (end === ':') {
      this.#open.push(this.#group);
      this.#group = opened(false, outside);
    }
    return true;
  }

  #closeGroup(): boolean {
    this.#at += 1;
    const group = this.#group;
    const around = this.#open.pop();
    if (around === undefined) return false;
    this.#group = around;
    this.#flags = group.outside;
    const item = closed(group);
    return this.#push(group.captures ? { op: 'capture', item } : item);
  }

  #count(): boolean {
    const found = this.#match(counted);
    if (found === undefined) return this.#literal(this.#nextCode());
    const min = Number(found[1]);
    return this.#repeat(min, found[2] === undefined ? min : found[3] === '' ? Infinity : Number(found[3]));
  }

  #repeat(min: number, max: number): boolean {
    const isLazyHere = this.#pattern[this.#at] === '?';
    if (isLazyHere) this.#at += 1;
    const item = this.#group.items.pop();
    if (item === undefined) return false;
    const { ungreedy, folds } = this.#flags;
    return this.#push({ op: 'repeat', item, min, max, isLazy: isLazyHere !== ungreedy, folds });
  }

  #escape(): boolean {
    const next = this.#pattern.charAt(this.#at + 1);
    if (next === 'Q') return this.#quoted();
    if (next !== '' && asserts.includes(next)) {
      this.#at += 2;
      return this.#push({ op: 'assert', test: next });
    }
    const group = this.#reader.group(this.#at, this.#flags.folds);
    if (group !== undefined) {
      this.#at = group.end;
      return this.#push({ op: 'class', set: group.set, source: group.source });
    }
    const escaped = this.#reader.escape(this.#at);
    if (escaped === undefined) return false;
    this.#at = escaped.end;
    return this.#literal(escaped.code);
  }

  #quoted(): boolean {
    const end = this.#pattern.indexOf('\\E', this.#at + 2);
    const last = end < 0 ? this.#pattern.length : end;
    this.#at += 2;
    while (this.#at < last) this.#literal(this.#nextCode());
    this.#at = end < 0 ? last : end + 2;
    return true;
  }

  #class(): boolean {
    const read = this.#reader.class(this.#at, this.#flags.folds);
    if (read === undefined) return false;
    this.#at = read.end;
    return this.#push({ op: 'class', set: read.set, source: read.source });
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#pattern);
    if (found === null) return undefined;
    this.#at += found[0].length;
    return found;
  }
}

function isHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}

function opened(captures: boolean, outside: Flags): Open {
  return { captures, outside, alternatives: [], items: [] };
}

function endAlternative(group: Open): void {
  group.alternatives.push(sequence('concat', joined(group.items)));
  group.items = [];
}

function closed(group: Open): Shape {
  endAlternative(group);
  return pushed(sequence('alternate', withMergedSingles(group.alternatives)));
}

/** Literals side by side are one, unless they differ in their case. */
function joined(items: readonly Shape[]): readonly Shape[] {
  const out: Shape[] = [];
  let texts: string[] = [];
  for (const [at, item] of items.entries()) {
    if (item.op !== 'literal') {
      out.push(item);
      continue;
    }
    texts.push(item.text);
    const next = items[at + 1];
    if (next?.op === 'literal' && next.folds === item.folds) continue;
    out.push({ ...item, text: texts.join('') });
    texts = [];
  }
  return out.length === 0 ? [emptyShape] : out;
}

function changed(flags: Flags, letters: string, value: boolean): Flags {
  return {
    folds: letters.includes('i') ? value : flags.folds,
    dotAll: letters.includes('s') ? value : flags.dotAll,
    manyLines: letters.includes('m') ? value : flags.manyLines,
    ungreedy: letters.includes('U') ? value : flags.ungreedy,
  };
}
