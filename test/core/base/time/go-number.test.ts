import test from 'ava';
import fc from 'fast-check';
import {
  formatFloatFixed,
  formatFloatPlain,
  formatFloatShort,
  parseGoFloat,
  parseGoInt,
} from '../../../../core/base/time/index.js';
import { quoteGo } from '../../../../core/base/label-set.js';

test('integers are read as Go reads them', (t) => {
  t.deepEqual(parseGoInt('+7'), { kind: 'ok', value: 7n });
  t.deepEqual(parseGoInt('-9223372036854775808'), { kind: 'ok', value: -9_223_372_036_854_775_808n });
  t.deepEqual(parseGoInt('00000000000000000000000012'), { kind: 'ok', value: 12n });
  t.deepEqual(parseGoInt('9223372036854775808'), {
    kind: 'bad',
    problem: 'value out of range',
    error: 'strconv.ParseInt: parsing "9223372036854775808": value out of range',
  });
  for (const text of ['', '1.0', ' 1', '0x10', '1_000', '١']) {
    const error = `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`;
    t.deepEqual(parseGoInt(text), { kind: 'bad', problem: 'invalid syntax', error }, text);
  }
});

test('floats are read as Go reads them, names, hexadecimal forms and digits in groups included', (t) => {
  const read = (text: string): unknown => {
    const parsed = parseGoFloat(text);
    return parsed.kind === 'ok' ? parsed.value : parsed.error;
  };
  for (const [text, value] of [
    ['1.5', 1.5],
    ['.5e1', 5],
    ['5.', 5],
    ['.5', 0.5],
    ['1_000', 1000],
    ['-1e-3', -0.001],
    ['0x1.8p1', 3],
    ['0x_1p-2', 0.25],
    ['Inf', Infinity],
    ['-infinity', -Infinity],
    ['nan', NaN],
  ] as const) {
    t.is(read(text), value, text);
  }
  for (const text of ['', '0x10', '1_', '1__0', '0b1', 'x', '1e', '+nan', ' 1', '.', '1s', '--1', '+NaN']) {
    t.is(read(text), `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  t.is(read('1e400'), 'strconv.ParseFloat: parsing "1e400": value out of range');
});

test('floats are printed in three ways', (t) => {
  t.deepEqual([100000, 1e6, 1e-5, 0.0001, 1.5e21, NaN, -Infinity].map(formatFloatShort), [
    ...['100000', '1e+06', '1e-05', '0.0001', '1.5e+21', 'NaN', '-Inf'],
  ]);
  t.deepEqual([1e21, 1.5e-7, 0, 12.5].map(formatFloatPlain), [
    '1000000000000000000000',
    '0.00000015',
    '0',
    '12.5',
  ]);
  t.deepEqual([0, 1.5, 1e21, NaN].map(formatFloatFixed), [
    ...['0.000000', '1.500000', '1000000000000000000000.000000', 'NaN'],
  ]);
});

test('a printed float reads as the same float', (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), (value) => {
      for (const text of [formatFloatShort(value), formatFloatPlain(value)]) {
        t.deepEqual(parseGoFloat(text), { kind: 'ok', value });
      }
    }),
  );
});

test('quoting escapes what Go escapes and keeps what can be printed', (t) => {
  t.is(quoteGo('a"b\\c\n\u0000é世\u200b'), '"a\\"b\\\\c\\n\\x00é世\\u200b"');
});

test('a quoted text of printable letters reads back as JSON', (t) => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~]*$/), (text) => {
      t.is(JSON.parse(quoteGo(text)), text);
    }),
  );
});
