import { expandTemplate, replaceAllWith, type FindFrom } from './expand.js';
import { parseRegExp } from './parse.js';
import { Re2Engine } from './re2-engine.js';
import { textTest, type TextTest } from './text-engine.js';
import { translateForV8, v8Finder } from './v8-engine.js';
import type { CompileOptions, LinearMatch, LinearRegExp } from './types.js';

/** Longer patterns are not worth an analysis. */
const maxAnalysed = 2048;

/**
 * Compiles a pattern for the RE2 automaton and, where a faster way gives the same answers in linear time, for that.
 * @throws RegExpSyntaxError
 */
export function compile(pattern: string, options: CompileOptions, fast = true): LinearRegExp {
  const engine = new Re2Engine(pattern, options);
  if (!fast || pattern.length > maxAnalysed) return new CompiledRegExp(pattern, engine, undefined, undefined);
  const anchored = options.anchored === true;
  const tree = parseRegExp(pattern, options.dotAll === true);
  const test = tree === undefined ? undefined : textTest(tree, anchored);
  const native = tree === undefined ? undefined : translateForV8(tree, anchored);
  return new CompiledRegExp(pattern, engine, test, native);
}

class CompiledRegExp implements LinearRegExp {
  readonly source: string;
  readonly groupCount: number;
  readonly groupNames: readonly string[];
  readonly #engine: Re2Engine;
  readonly #test: TextTest | undefined;
  readonly #native: RegExp | undefined;

  constructor(source: string, engine: Re2Engine, test: TextTest | undefined, native: RegExp | undefined) {
    this.source = source;
    this.groupCount = engine.groupCount;
    this.groupNames = engine.names.map(([name]) => name);
    this.#engine = engine;
    this.#test = test;
    this.#native = native;
  }

  test(text: string): boolean {
    const answer = this.#test?.(text);
    if (answer !== undefined) return answer;
    if (this.#native === undefined) return this.#engine.test(text);
    this.#native.lastIndex = 0;
    return this.#native.test(text);
  }

  exec(text: string): LinearMatch | undefined {
    return this.#finder(text)(0);
  }

  replaceAll(text: string, replacement: string): string {
    return replaceAllWith(text, this.#finder(text), (match) => expandTemplate(replacement, match));
  }

  replaceAllLiteral(text: string, replacement: string): string {
    return replaceAllWith(text, this.#finder(text), () => replacement);
  }

  count(text: string): number {
    let matches = 0;
    replaceAllWith(text, this.#finder(text), () => {
      matches++;
      return '';
    });
    return matches;
  }

  #finder(text: string): FindFrom {
    return this.#native === undefined
      ? this.#engine.finder(text)
      : v8Finder(this.#native, this.#engine.names, text);
  }
}
