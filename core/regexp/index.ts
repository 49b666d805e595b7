import { compile } from './compiled.js';
import { RegExpSyntaxError, type CompileOptions, type LinearRegExp } from './types.js';

export { RegExpSyntaxError } from './types.js';
export type { CompileOptions, LinearMatch, LinearRegExp } from './types.js';

/** Compiling takes about a millisecond a kibibyte, and the process waits for it. */
const maxPatternLength = 40_960;
const maxKept = 512;
const maxKeptLength = 4096;
const kept = new Map<string, LinearRegExp>();

/**
 * Compiles a pattern with RE2 meaning into something that runs in time linear in the text.
 * Compiled patterns are shared: they carry no state between calls.
 * @throws RegExpSyntaxError with Go's text when the pattern is not RE2 syntax, or longer than 40 KiB
 */
export function compileRegExp(pattern: string, options: CompileOptions = {}): LinearRegExp {
  if (pattern.length > maxPatternLength)
    throw new RegExpSyntaxError('error parsing regexp: expression too large');
  const key = `${options.anchored === true ? 'a' : '-'}${options.dotAll === true ? 's' : '-'}${pattern}`;
  const known = kept.get(key);
  if (known !== undefined) {
    kept.delete(key);
    kept.set(key, known);
    return known;
  }
  const compiled = compile(pattern, options);
  if (pattern.length <= maxKeptLength) {
    kept.set(key, compiled);
    const oldest = kept.keys().next();
    if (kept.size > maxKept && oldest.done !== true) kept.delete(oldest.value);
  }
  return compiled;
}
