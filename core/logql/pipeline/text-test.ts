import type { MatchOp } from '../ast.js';
import { compileRegExp } from '../regexp/index.js';
import { Meter } from './meter.js';
import { ownText } from './own-text.js';
import { readLiteralRegexp } from './literal-regexp.js';

/** Whether a label's value matches. */
export type TextTest = (text: string) => boolean;

/** Compiles the comparison of a label filter, including Loki's shortcuts for simple patterns, which change its meaning. */
export function compileTextTest(op: MatchOp, value: string, meter = new Meter()): TextTest {
  return compileTest(op, value, (pattern) => compileShortened(pattern, meter));
}

/** Compiles a matcher of a selector, `keep` or `drop`: plain RE2, anchored, `.` matches a line feed. */
export function compileMatcherTest(op: MatchOp, value: string, meter = new Meter()): TextTest {
  return compileTest(op, value, (pattern) => searches(pattern, true, meter));
}

function compileTest(op: MatchOp, value: string, compile: (pattern: string) => TextTest): TextTest {
  switch (op) {
    case '=':
      return (text) => text === value;
    case '!=':
      return (text) => text !== value;
    case '=~':
      return compile(value);
    case '!~': {
      const test = compile(value);
      return (text) => !test(text);
    }
  }
}

const emptyParts = /\(\?[imsU]*\)|\((?:\?:)?\)|\|/g;

/** Whether a pattern is an empty one in any form (`()`, `(?:)`, `(?i)`, `||`): in a label filter, Loki lets every value pass it. */
export function isEmptyPattern(pattern: string): boolean {
  let rest = pattern;
  for (let before = ''; before !== rest;) {
    before = rest;
    rest = rest.replace(emptyParts, '');
  }
  return rest === '';
}

/**
 * Anchored at both ends. Loki drops an empty alternative next to a text, so `|foo` equals `foo`; and `.*` at the start or end of a plain
 * text becomes a suffix or prefix test, which also matches across line feeds.
 */
function compileShortened(pattern: string, meter: Meter): TextTest {
  if (pattern === '.*' || isEmptyPattern(pattern)) return () => true;
  const literal = readLiteralRegexp(pattern);
  const isOne = literal?.texts.length === 1 && !literal.ignoresCase && !literal.droppedAll;
  if (isOne && pattern.includes('.*')) return searches(pattern, true, meter);
  if (
    literal?.droppedAll === true &&
    literal.texts.length > 0 &&
    !literal.ignoresCase &&
    !pattern.includes('*')
  ) {
    return (text) => literal.texts.includes(text);
  }
  return searches(pattern, false, meter);
}

function searches(pattern: string, dotAll: boolean, meter: Meter): TextTest {
  const compiled = compileRegExp(pattern, { anchored: true, dotAll });
  return remember((text) => {
    meter.charge(compiled.testCost * text.length);
    return compiled.test(text);
  });
}

const remembered = 256;
const longestRemembered = 64;

/** Caches the results for short texts: most labels have few values. */
function remember(test: TextTest): TextTest {
  const answers = new Map<string, boolean>();
  return (text) => {
    if (text.length > longestRemembered) return test(text);
    let answer = answers.get(text);
    if (answer === undefined) {
      answer = test(text);
      if (answers.size >= remembered) answers.clear();
      answers.set(ownText(text), answer);
    }
    return answer;
  };
}
