import type { MatchOp, StringLabelFilter } from '../ast.js';
import { compileRegExp } from '../regexp/index.js';
import { labelMeaning } from './filter-meaning.js';
import { compileMeaning, type TextTest } from './filter-test.js';
import { Meter } from './meter.js';
import { ownText } from './own-text.js';

/** Compiles the comparison of a label with a text. */
export function compileLabelTest(filter: StringLabelFilter, meter: Meter): TextTest {
  const test = compileMeaning(labelMeaning(filter), meter);
  return filter.op === '=' || filter.op === '!=' ? test : remember(test);
}

/** Compiles a matcher of a selector, `keep` or `drop`: plain RE2, anchored, `.` matches a line feed. */
export function compileMatcherTest(op: MatchOp, value: string, meter = new Meter()): TextTest {
  switch (op) {
    case '=':
      return (text) => text === value;
    case '!=':
      return (text) => text !== value;
    case '=~':
      return searches(value, meter);
    case '!~': {
      const test = searches(value, meter);
      return (text) => !test(text);
    }
  }
}

function searches(pattern: string, meter: Meter): TextTest {
  const compiled = compileRegExp(pattern, { anchored: true, dotAll: true });
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
