import { parseIPv6 } from '../../../../core/base/ip.js';
import { compileRegExp, type LinearRegExp } from '../../../../core/logql/regexp/index.js';
import { lowerText } from '../../../../core/logql/template/library/characters.js';
import { compareGoStrings } from '../../../../core/logql/values/raw-bytes.js';
import { LogsqlError } from '../../../../core/victoria/logsql/errors.js';
import { compareValues } from '../../../../core/victoria/logsql/eval/compare.js';
import { jsonArrayTexts } from '../../../../core/victoria/logsql/eval/json.js';
import { addressTest, compileTest, type TextTest } from '../../../../core/victoria/logsql/eval/value-test.js';
import { WordFinder } from '../../../../core/victoria/logsql/eval/words.js';
import { rangeNumber } from '../../../../core/victoria/logsql/range-number.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import type {
  ContainsTest,
  FieldCompareTest,
  ForeignTest,
  LengthRangeTest,
  PatternTest,
  RangeTest,
} from '../ast.js';

/**
 * Compiles a test of the field of a row.
 * @throws LogsqlError when a subquery has not been replaced by its results
 */
export function compileForeignTest(test: ForeignTest): (row: RowView, name: string) => boolean {
  switch (test.kind) {
    case 'eq-field': {
      const { other } = test;
      return (row, name) => row.get(name) === row.get(other);
    }
    case 'le-field': {
      const { other } = test;
      return (row, name) => compareValues(row.get(name), row.get(other)) <= 0;
    }
    default: {
      const matches = compileTextTest(test);
      return (row, name) => matches(row.get(name));
    }
  }
}

function compileTextTest(test: Exclude<ForeignTest, FieldCompareTest>): TextTest {
  switch (test.kind) {
    case 'contains-all':
    case 'contains-any':
    case 'json-array-contains-any':
      return containsTest(test);
    case 'subquery':
      throw new LogsqlError('the subquery has not been run yet');
    case 'any-case': {
      const inner = compileTest({ kind: test.prefix ? 'prefix' : 'phrase', text: lowerText(test.text) });
      return (value) => inner(lowerText(value));
    }
    case 'sequence':
      return sequenceTest(test.phrases);
    case 'range':
      return rangeTest(test);
    case 'ipv6-range':
      return addressTest(parseIPv6, test);
    case 'string-range': {
      const { from, to } = test;
      return (value) => compareGoStrings(value, from) >= 0 && compareGoStrings(value, to) < 0;
    }
    case 'len-range':
      return lengthTest(test);
    case 'pattern': {
      const compiled = compilePattern(test);
      return (value) => compiled.test(value);
    }
  }
}

function phraseTest(text: string): TextTest {
  return compileTest({ kind: 'phrase', text });
}

function containsTest(test: ContainsTest): TextTest {
  const values = new Set(test.values);
  switch (test.kind) {
    case 'contains-all': {
      const tests = test.values.map(phraseTest);
      return (value) => tests.every((one) => one(value));
    }
    case 'contains-any': {
      const tests = test.values.map(phraseTest);
      return (value) => tests.some((one) => one(value));
    }
    case 'json-array-contains-any':
      return (value) =>
        value.startsWith('[') && (jsonArrayTexts(value)?.some((item) => values.has(item)) ?? false);
  }
}

function sequenceTest(phrases: readonly string[]): TextTest {
  const finders = phrases.map((phrase) => ({ finder: new WordFinder(phrase), length: phrase.length }));
  return (value) => {
    let at = 0;
    for (const { finder, length } of finders) {
      const found = finder.find(value, at);
      if (found < 0) return false;
      at = found + length;
    }
    return true;
  };
}

function rangeTest(test: RangeTest): TextTest {
  const min = rangeNumber(test.min) ?? NaN;
  const max = rangeNumber(test.max) ?? NaN;
  const { minIncluded, maxIncluded } = test;
  return (value) => {
    const number = rangeNumber(value);
    if (number === undefined) return false;
    return (minIncluded ? number >= min : number > min) && (maxIncluded ? number <= max : number < max);
  };
}

function lengthTest(test: LengthRangeTest): TextTest {
  const { min, max = Infinity } = test;
  return (value) => {
    // A character has one or two code units, which decides most cases without counting.
    if (value.length < min || value.length > 2 * max) return false;
    let count = 0;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code < 0xdc00 || code > 0xdfff) count++;
    }
    return count >= min && count <= max;
  };
}

const number = '(?:0[xX])?[0-9a-fA-F]*[0-9][0-9a-fA-F]*';
const time = '[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?';
const date = '[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}';
const placeholders: ReadonlyMap<string, string> = new Map([
  ['N', number],
  ['UUID', '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'],
  ['IP4', '[0-9]{1,3}(?:\\.[0-9]{1,3}){3}'],
  ['TIME', time],
  ['DATE', date],
  ['DATETIME', `${date}[T ]${time}(?:Z|[+-][0-9]{2}:[0-9]{2})?`],
  ['W', '(?:"(?:[^"\\\\]|\\\\.)*"|[\\pL\\p{Nd}_]+)'],
]);

/** Compiles the pattern of `pattern_match`; an unknown placeholder is literal text. */
function compilePattern(test: PatternTest): LinearRegExp {
  const source = test.pattern.replace(/<([A-Z0-9]+)>|[\\^$.|?*+()[\]{}]/g, (all: string, name?: string) => {
    if (name === undefined) return `\\${all}`;
    return placeholders.get(name) ?? all;
  });
  const start = test.where === 'full' || test.where === 'prefix' ? '^' : '';
  const end = test.where === 'full' || test.where === 'suffix' ? '$' : '';
  return compileRegExp(`${start}(?:${source})${end}`, { dotAll: true });
}
