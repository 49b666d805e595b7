import { parseIPv4 } from '../../../base/ip.js';
import { compileRegExp } from '../../../logql/regexp/index.js';
import { compareGoStrings } from '../../../logql/values/raw-bytes.js';
import type { CompareTest, ValueTest } from '../ast.js';
import { parsePlain } from '../numbers.js';
import { rangeNumber } from '../range-number.js';
import { WordFinder } from './words.js';

export type TextTest = (value: string) => boolean;

/** Compiles a test that only needs the value. */
export function compileTest(test: Exclude<ValueTest, { readonly kind: 'lt-field' | 'own' }>): TextTest {
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
    case 'in': {
      const values = new Set(test.values);
      return (value) => values.has(value);
    }
    case 'compare':
      return compareTest(test);
    case 'ipv4-range':
      return addressTest(parseIPv4, test);
    case 'value-type': {
      const { type } = test;
      return (value) => valueType(value) === type;
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

/** The value is an address in `[from, to]`. */
export function addressTest(
  parse: (text: string) => number | bigint | undefined,
  range: { readonly from: string; readonly to: string },
): TextTest {
  const [from, to] = [parse(range.from), parse(range.to)];
  if (from === undefined || to === undefined) return () => false;
  return (value) => {
    const address = parse(value);
    return address !== undefined && address >= from && address <= to;
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
