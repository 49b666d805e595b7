import { compileRegExp } from '../regexp/index.js';
import type { Meter } from './meter.js';
import type { LineTest } from './types.js';
import { readLiteralRegexp } from './literal-regexp.js';

const maxTexts = 32;
/** Nanoseconds per character of the line and of the texts: at worst, all but one character of a text match everywhere. */
const caseCost = 1;
const onlyAscii = /^[\u0000-\u007f]*$/;
const javaScriptSpecial = /[\\^$.*+?()[\]{}|/-]/g;

/**
 * Compiles a regexp line filter: unanchored, `.` without line feeds. Alternatives of plain texts become text searches, which is faster and
 * what Loki does, including its two differences from RE2: an alternative that matches everything next to a text is dropped, and `(?i)` on a
 * plain text ignores the non-ASCII cases of k and s.
 */
export function compileRegexpFilter(pattern: string, meter: Meter): LineTest {
  const literal = readLiteralRegexp(pattern);
  if (literal !== undefined && literal.texts.length <= maxTexts) {
    if (literal.texts.length === 0) return () => true;
    if (!literal.ignoresCase) return containsOne(literal.texts, meter);
    if (literal.texts.every((text) => onlyAscii.test(text)))
      return containsOneIgnoringCase(literal.texts, meter);
    if (literal.droppedAll)
      return searches(`(?i)${literal.texts.map((text) => quoteMeta(text)).join('|')}`, meter);
  }
  return searches(pattern, meter);
}

function searches(pattern: string, meter: Meter): LineTest {
  const compiled = compileRegExp(pattern);
  return (line) => {
    meter.charge(compiled.testCost * line.length);
    return compiled.test(line);
  };
}

function containsOne(texts: readonly string[], meter: Meter): LineTest {
  const [first = ''] = texts;
  return (line) => {
    meter.charge(texts.length * line.length);
    return texts.length === 1 ? line.includes(first) : texts.some((text) => line.includes(text));
  };
}

/** V8 searches alternatives of plain texts in time linear in the line; without the `u` flag it only folds ASCII letters. */
function containsOneIgnoringCase(texts: readonly string[], meter: Meter): LineTest {
  const compiled = new RegExp(texts.map((text) => text.replace(javaScriptSpecial, '\\$&')).join('|'), 'i');
  const cost = caseCost * texts.reduce((sum, { length }) => sum + length, 0);
  return (line) => {
    meter.charge(cost * line.length);
    return compiled.test(line);
  };
}

/** Escapes a text so that RE2 matches it literally. */
export function quoteMeta(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
