import { searchWork, allTexts } from './analysis.js';
import { takeFromBudget } from './budget.js';
import { expandTemplate, type FindFrom, replaceAllWith, Re2Engine } from './re2-engine.js';
import { exactTree } from './parse.js';
import { containsOne, equalsOne, plainTexts, type TextTest } from './plain-texts.js';
import { translateForV8, v8Finder } from './v8-engine.js';
import type { RegExpNode } from './tree.js';
import type { CompileOptions, LinearMatch, LinearRegExp } from './types.js';

/** Longer patterns are not analysed. */
const maxAnalysed = 2048;

/** Nanoseconds per UTF-16 unit, and per state of the automaton or step of a search. */
const searchCost = 2;
const testCost = 25;
const findCost = 50;
/** Texts are searched one after the other, or all at once with a tree. */
const textsCost = 20;

/**
 * Compiles a pattern for the RE2 automaton, and also for a faster engine that has the same results in linear time, if there is one.
 * @throws RegExpSyntaxError
 */
export function compile(pattern: string, options: CompileOptions, fast = true): LinearRegExp {
  const anchored = options.anchored === true;
  const texts = fast ? plainTexts(pattern) : undefined;
  if (texts !== undefined) {
    const test = anchored ? equalsOne(texts) : containsOne(texts);
    return new CompiledRegExp(pattern, options, { test });
  }
  const engine = engineOf(pattern, options);
  const tree =
    fast && pattern.length <= maxAnalysed ? exactTree(pattern, options.dotAll === true) : undefined;
  if (tree === undefined) return new CompiledRegExp(pattern, options, { engine });
  const test = textTest(tree, anchored);
  const native = translateForV8(tree, anchored);
  return new CompiledRegExp(pattern, options, { engine, tree, test, native });
}

function engineOf(pattern: string, options: CompileOptions): Re2Engine {
  takeFromBudget(pattern, false);
  return new Re2Engine(pattern, options);
}

interface Ways {
  /** Created on first use, because a test for plain texts is mostly sufficient. */
  readonly engine?: Re2Engine;
  readonly tree?: RegExpNode;
  readonly test?: TextTest | undefined;
  readonly native?: RegExp | undefined;
}

class CompiledRegExp implements LinearRegExp {
  readonly #source: string;
  readonly groupCount: number;
  readonly groupNames: readonly string[];
  readonly size: number;
  readonly testCost: number;
  readonly findCost: number;
  readonly #options: CompileOptions;
  readonly #test: TextTest | undefined;
  readonly #native: RegExp | undefined;
  #engine: Re2Engine | undefined;

  constructor(source: string, options: CompileOptions, { engine, tree, test, native }: Ways) {
    this.#source = source;
    this.groupCount = engine?.groupCount ?? 0;
    this.groupNames = engine?.names.map(([name]) => name) ?? [];
    this.#options = options;
    this.#engine = engine;
    this.#test = test;
    this.#native = native;
    this.size = engine?.size ?? source.length;
    const steps = tree === undefined ? 1 : searchWork(tree);
    this.findCost = native === undefined ? findCost * this.size : searchCost * steps;
    // A test for texts may leave rare cases to the other engines.
    const other = native === undefined ? testCost * this.size : searchCost * steps;
    this.testCost =
      engine === undefined ? textsCost : test === undefined ? other : Math.max(textsCost, other);
  }

  test(text: string): boolean {
    const answer = this.#test?.(text);
    if (answer !== undefined) return answer;
    if (this.#native === undefined) return this.#automaton.test(text);
    this.#native.lastIndex = 0;
    return this.#native.test(text);
  }

  exec(text: string): LinearMatch | undefined {
    return this.#finder(text)(0);
  }

  replaceAll(text: string, replacement: string, onMatch?: () => void): string {
    return replaceAllWith(text, this.#finder(text), (match) => {
      onMatch?.();
      return expandTemplate(replacement, match);
    });
  }

  replaceAllLiteral(text: string, replacement: string, onMatch?: () => void): string {
    return replaceAllWith(text, this.#finder(text), () => {
      onMatch?.();
      return replacement;
    });
  }

  count(text: string, onMatch?: () => void): number {
    let matches = 0;
    replaceAllWith(text, this.#finder(text), () => {
      onMatch?.();
      matches++;
      return '';
    });
    return matches;
  }

  get #automaton(): Re2Engine {
    return (this.#engine ??= engineOf(this.#source, this.#options));
  }

  #finder(text: string): FindFrom {
    return this.#native === undefined
      ? this.#automaton.finder(text)
      : v8Finder(this.#native, this.#automaton.names, text);
  }
}

/** Turns a pattern of texts with `.*` between them (`a|b`, `foo.*bar`, anchored `.*foo`) into text searches; undefined for all others. */
export function textTest(node: RegExpNode, anchored: boolean): TextTest | undefined {
  const texts = allTexts(node);
  if (texts !== undefined) return anchored ? equalsOne(texts) : containsOne(texts);
  return gapTest(node, anchored);
}

/** Texts with gaps of any length between them. */
function gapTest(node: RegExpNode, anchored: boolean): TextTest | undefined {
  if (node.op !== 'concat') return undefined;
  const parts = [''];
  let gaps: RegExpNode['op'] | undefined;
  for (const item of node.items) {
    if (item.op === 'repeat') {
      const { op } = item.item;
      if (item.min !== 0 || item.max !== Infinity || (op !== 'any' && op !== 'any-not-lf')) return undefined;
      gaps ??= op;
      if (op !== gaps) return undefined;
      parts.push('');
      continue;
    }
    const [text, ...others] = allTexts(item) ?? [];
    if (text === undefined || others.length > 0) return undefined;
    parts.push((parts.pop() ?? '') + text);
  }
  return (text) => {
    // In this case a gap must not contain a line feed; texts with one are left to the automaton.
    if (gaps === 'any-not-lf' && text.includes('\n')) return undefined;
    return anchored ? matchesParts(text, parts) : holdsParts(text, parts);
  };
}

/** The leftmost match of each part leaves the most room for the rest. */
function holdsParts(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

function matchesParts(text: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  return holdsParts(text.slice(first.length, text.length - last.length), parts.slice(1, -1));
}
