import { compileRegExp } from '../../regexp/index.js';
import type { LineTest } from './line-filter.js';
import { readLiteralRegexp } from './literal-regexp.js';

const maxTexts = 32;
const onlyAscii = /^[\u0000-\u007f]*$/;
const javaScriptSpecial = /[\\^$.*+?()[\]{}|/-]/g;

/**
 * Compiles a regexp line filter: found anywhere, `.` without line feeds. Patterns that are only texts side by side become
 * plain searches, which is faster and is what the reference does, down to its two departures from RE2: an alternative that
 * matches everything beside a text is dropped, and `(?i)` on a plain text knows no other case of k and s than K and S.
 */
export function compileRegexpFilter(pattern: string): LineTest {
  const literal = readLiteralRegexp(pattern);
  if (literal !== undefined && literal.texts.length <= maxTexts) {
    if (literal.texts.length === 0) return () => true;
    if (!literal.ignoresCase) return containsOne(literal.texts);
    if (literal.texts.every((text) => onlyAscii.test(text))) return containsOneIgnoringCase(literal.texts);
    if (literal.droppedAll) return searches(`(?i)${literal.texts.map((text) => quoteMeta(text)).join('|')}`);
  }
  return searches(pattern);
}

function searches(pattern: string): LineTest {
  const compiled = compileRegExp(pattern);
  return (line) => compiled.test(line);
}

function containsOne(texts: readonly string[]): LineTest {
  const [first = ''] = texts;
  if (texts.length === 1) return (line) => line.includes(first);
  return (line) => texts.some((text) => line.includes(text));
}

/** V8 searches alternatives of plain texts in time linear in the line; without the `u` flag it folds ASCII letters among themselves only. */
function containsOneIgnoringCase(texts: readonly string[]): LineTest {
  const compiled = new RegExp(texts.map((text) => text.replace(javaScriptSpecial, '\\$&')).join('|'), 'i');
  return (line) => compiled.test(line);
}

/** Escapes a text so that RE2 takes it for itself. */
export function quoteMeta(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
