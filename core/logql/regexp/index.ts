import { takeFromBudget } from './budget.js';
import { compile } from './compiled.js';
import { plainTexts } from './plain-texts.js';
import type { CompileOptions, LinearRegExp } from './types.js';

export { patternSize, sharingBudget } from './budget.js';
export { RegExpSyntaxError } from './types.js';
export type { CompileOptions, LinearMatch, LinearRegExp } from './types.js';

const maxKept = 512;
/** Total instructions of all cached patterns; a thousand take about a megabyte once they have been used. */
const maxKeptSize = 100_000;

/** An LRU cache of compiled patterns. */
class Kept {
  readonly #patterns = new Map<string, LinearRegExp>();
  #size = 0;

  get(key: string): LinearRegExp | undefined {
    const known = this.#patterns.get(key);
    if (known === undefined) return undefined;
    this.#patterns.delete(key);
    this.#patterns.set(key, known);
    return known;
  }

  add(key: string, compiled: LinearRegExp): void {
    this.#patterns.set(key, compiled);
    this.#size += compiled.size;
    for (const [oldest, { size }] of this.#patterns) {
      if (this.#patterns.size <= maxKept && this.#size <= maxKeptSize) return;
      this.#patterns.delete(oldest);
      this.#size -= size;
    }
  }
}

const kept = new Kept();

/**
 * Compiles a pattern with RE2's meaning to run in linear time. Compiled patterns are shared and stateless.
 * @throws RegExpSyntaxError with Go's text when the pattern is not RE2 syntax, or exceeds the query's budget (see sharingBudget)
 */
export function compileRegExp(pattern: string, options: CompileOptions = {}): LinearRegExp {
  const key = `${options.anchored === true ? 'a' : '-'}${options.dotAll === true ? 's' : '-'}${pattern}`;
  const known = kept.get(key);
  // Cached patterns count as well: the result for a query must not depend on earlier queries.
  if (plainTexts(pattern) === undefined) takeFromBudget(pattern, known !== undefined);
  if (known !== undefined) return known;
  const compiled = compile(pattern, options);
  kept.add(key, compiled);
  return compiled;
}
