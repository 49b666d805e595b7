import { RE2JS, RE2JSException, type Matcher } from 're2js';
import { expandTemplate, replaceAllWith } from './expand.js';
import { RegExpSyntaxError, type CompileOptions, type LinearMatch, type LinearRegExp } from './types.js';

/** Compiles with the RE2 automaton; it serves every pattern and is what the faster engines are measured against. */
export function compileRe2(pattern: string, options: CompileOptions): LinearRegExp {
  return new Re2RegExp(pattern, options);
}

class Re2RegExp implements LinearRegExp {
  readonly source: string;
  readonly groupCount: number;
  readonly groupNames: readonly string[];
  readonly #anchored: boolean;
  readonly #compiled: RE2JS;
  readonly #named: readonly (readonly [string, number])[];

  constructor(pattern: string, options: CompileOptions) {
    this.source = pattern;
    this.#anchored = options.anchored === true;
    // Compiled without flags first: a flag prefix would show up in the error text.
    const plain = compile(pattern, 0);
    this.#compiled = options.dotAll === true ? compile(pattern, RE2JS.DOTALL) : plain;
    this.groupCount = plain.groupCount();
    this.#named = Object.entries(plain.namedGroups()).sort((a, b) => a[1] - b[1]);
    this.groupNames = this.#named.map(([name]) => name);
  }

  test(text: string): boolean {
    return this.#anchored ? this.#compiled.testExact(text) : this.#compiled.test(text);
  }

  exec(text: string): LinearMatch | undefined {
    const matcher = this.#compiled.matcher(text);
    const found = this.#anchored ? matcher.matches() : matcher.find();
    return found ? this.#match(matcher) : undefined;
  }

  replaceAll(text: string, replacement: string): string {
    return this.#replace(text, (match) => expandTemplate(replacement, match));
  }

  replaceAllLiteral(text: string, replacement: string): string {
    return this.#replace(text, () => replacement);
  }

  count(text: string): number {
    let matches = 0;
    this.#replace(text, () => {
      matches++;
      return '';
    });
    return matches;
  }

  #replace(text: string, replace: (match: LinearMatch) => string): string {
    if (this.#anchored) {
      const match = this.exec(text);
      return match === undefined ? text : replace(match);
    }
    const matcher = this.#compiled.matcher(text);
    return replaceAllWith(
      text,
      (_, from) => (matcher.find(from) ? this.#match(matcher) : undefined),
      replace,
    );
  }

  #match(matcher: Matcher): LinearMatch {
    const groups: (string | undefined)[] = [];
    for (let i = 0; i <= this.groupCount; i++) groups.push(matcher.group(i) ?? undefined);
    const named = new Map<string, string>();
    for (const [name, index] of this.#named) {
      const text = groups[index];
      if (text !== undefined) named.set(name, text);
    }
    return { index: matcher.start(), end: matcher.end(), groups, named };
  }
}

function compile(pattern: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (error) {
    if (error instanceof RE2JSException) throw new RegExpSyntaxError(error.message);
    throw error;
  }
}
