import { compileRegExp, type LinearRegExp } from '../../../logql/regexp/index.js';
import { lowerText } from '../../../logql/template/library/characters.js';
import { compareGoStrings } from '../../../logql/values/raw-bytes.js';
import type {
  AddressRangeTest,
  CompareTest,
  FieldCompareTest,
  LengthRangeTest,
  ListTest,
  RangeTest,
  ValueTest,
  PatternTest,
} from '../ast.js';
import { LogsqlError } from '../errors.js';
import { parseIPv4, parseIPv6 } from '../../../base/ip.js';
import { rangeNumber } from '../range-number.js';
import { jsonArrayTexts } from './json.js';
import { WordFinder } from './words.js';
import { parsePlain } from '../numbers.js';

export type TextTest = (value: string) => boolean;

/** Compiles a test that only needs the value. */
export function compileTest(test: Exclude<ValueTest, FieldCompareTest>): TextTest {
  switch (test.kind) {
    case 'phrase':
      return phraseTest(test.text);
    case 'prefix':
      return prefixTest(test.text);
    case 'exact': {
      const { text } = test;
      return (value) => value === text;
    }
    case 'exact-prefix': {
      const { text } = test;
      return (value) => value.startsWith(text);
    }
    case 'substring': {
      const { text } = test;
      return (value) => value.includes(text);
    }
    case 'regexp': {
      const compiled = compileRegExp(test.pattern, { dotAll: true });
      return (value) => compiled.test(value);
    }
    case 'in':
    case 'contains-all':
    case 'contains-any':
    case 'json-array-contains-any':
      return listTest(test);
    case 'subquery':
      throw new LogsqlError('the subquery has not been run yet');
    case 'any-case': {
      const inner = test.prefix ? prefixTest(lowerText(test.text)) : phraseTest(lowerText(test.text));
      return (value) => inner(lowerText(value));
    }
    case 'sequence':
      return sequenceTest(test.phrases);
    case 'compare':
      return compareTest(test);
    case 'range':
      return rangeTest(test);
    case 'ipv4-range':
    case 'ipv6-range':
      return addressTest(test);
    case 'string-range': {
      const { from, to } = test;
      return (value) => compareGoStrings(value, from) >= 0 && compareGoStrings(value, to) < 0;
    }
    case 'len-range':
      return lengthTest(test);
    case 'value-type': {
      const { type } = test;
      return (value) => valueType(value) === type;
    }
    case 'pattern': {
      const compiled = compilePattern(test);
      return (value) => compiled.test(value);
    }
  }
}

function phraseTest(text: string): TextTest {
  if (text === '') return (value) => value === '';
  const finder = new WordFinder(text);
  return (value) => finder.find(value) >= 0;
}

function prefixTest(text: string): TextTest {
  if (text === '') return (value) => value !== '';
  const finder = new WordFinder(text, true);
  return (value) => finder.find(value) >= 0;
}

function listTest(test: ListTest): TextTest {
  const values = new Set(test.values);
  switch (test.kind) {
    case 'in':
      return (value) => values.has(value);
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

const comparisons: Readonly<Record<CompareTest['op'], (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
};

function compareTest({ op, value: text }: CompareTest): TextTest {
  const holds = comparisons[op];
  const bound = rangeNumber(text);
  return bound === undefined
    ? (value) => holds(compareGoStrings(value, text), 0)
    : (value) => holds(rangeNumber(value) ?? NaN, bound);
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

function addressTest(test: AddressRangeTest): TextTest {
  const parse: (text: string) => number | bigint | undefined =
    test.kind === 'ipv4-range' ? parseIPv4 : parseIPv6;
  const [from, to] = [parse(test.from), parse(test.to)];
  if (from === undefined || to === undefined) return () => false;
  return (value) => {
    const address = parse(value);
    return address !== undefined && address >= from && address <= to;
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

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * The column type for one value. VictoriaLogs chooses types per storage block; few distinct texts make a `dict`, so a text counts as one
 * here.
 */
function valueType(value: string): string {
  if (value === '') return '';
  const number = parsePlain(value);
  if (number !== undefined && !value.includes('_')) {
    if (value.includes('.')) return 'float64';
    if (number < 0) return 'int64';
    if (number < 2 ** 8) return 'uint8';
    if (number < 2 ** 16) return 'uint16';
    return number < 2 ** 32 ? 'uint32' : 'uint64';
  }
  if (parseIPv4(value) !== undefined) return 'ipv4';
  return isoTime.test(value) ? 'iso8601' : 'dict';
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
