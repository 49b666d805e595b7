import { compileRegExp } from '../../../logql/regexp/index.js';
import type {
  AddressRangeTest,
  CompareTest,
  FieldCompareTest,
  LengthRangeTest,
  ListTest,
  RangeTest,
  ValueTest,
} from '../ast.js';
import { LogsqlError } from '../errors.js';
import { parseIPv4, parseIPv6 } from '../../../base/ip.js';
import { rangeNumber } from '../range-number.js';
import { compilePattern } from '../pattern.js';
import { compareBytes } from './compare.js';
import { jsonArrayTexts } from './json.js';
import { valueType } from './value-type.js';
import { WordFinder, lowerText } from './words.js';

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
      return (value) => compareBytes(value, from) >= 0 && compareBytes(value, to) < 0;
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

function compareTest(test: CompareTest): TextTest {
  const bound = rangeNumber(test.value);
  if (bound === undefined) {
    const { value: text } = test;
    switch (test.op) {
      case '>':
        return (value) => compareBytes(value, text) > 0;
      case '>=':
        return (value) => compareBytes(value, text) >= 0;
      case '<':
        return (value) => compareBytes(value, text) < 0;
      case '<=':
        return (value) => compareBytes(value, text) <= 0;
    }
  }
  switch (test.op) {
    case '>':
      return (value) => (rangeNumber(value) ?? NaN) > bound;
    case '>=':
      return (value) => (rangeNumber(value) ?? NaN) >= bound;
    case '<':
      return (value) => (rangeNumber(value) ?? NaN) < bound;
    case '<=':
      return (value) => (rangeNumber(value) ?? NaN) <= bound;
  }
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
  if (test.kind === 'ipv4-range') {
    const from = parseIPv4(test.from) ?? NaN;
    const to = parseIPv4(test.to) ?? NaN;
    return (value) => {
      const address = parseIPv4(value);
      return address !== undefined && address >= from && address <= to;
    };
  }
  const from = parseIPv6(test.from);
  const to = parseIPv6(test.to);
  if (from === undefined || to === undefined) return () => false;
  return (value) => {
    const address = parseIPv6(value);
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
