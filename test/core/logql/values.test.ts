import test from 'ava';
import fc from 'fast-check';
import { foldLiterals } from '../../../core/logql/index.js';
import { formatBytes, parseBytes } from '../../../core/logql/values/bytes.js';
import { formatGoDuration, parseGoDuration } from '../../../core/logql/values/go-duration.js';
import {
  formatFloatFixed,
  formatFloatPlain,
  formatFloatShort,
  parseGoFloat,
} from '../../../core/logql/values/go-float.js';
import { formatPromDuration, parsePromDuration } from '../../../core/logql/values/prom-duration.js';
import { quoteGo } from '../../../core/base/time/go-quote.js';
import { unquoteGo } from '../../../core/logql/values/unquote.js';
import { anyCharacter } from '../../setup/text.js';

test('floats are read in the syntax of Go', (t) => {
  const read = (text: string): unknown => {
    const parsed = parseGoFloat(text);
    return parsed.ok ? parsed.value : parsed.error;
  };
  for (const [text, value] of [
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
  for (const text of ['', '0x10', '1_', '1__0', '0b1', 'x', '1e', '+nan', ' 1']) {
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
        t.deepEqual(parseGoFloat(text), { ok: true, value });
      }
    }),
  );
});

test('durations are read and printed in Go style', (t) => {
  for (const [text, nanoseconds] of [
    ['1h2m3s', 3_723_000_000_000n],
    ['1.5h', 5_400_000_000_000n],
    ['-3ms', -3_000_000n],
    ['1s1h', 3_601_000_000_000n],
    ['10\u00b5s', 10_000n],
    ['0', 0n],
  ] as const) {
    t.is(parseGoDuration(text), nanoseconds, text);
  }
  for (const text of ['', '5', '1d', 'h', '1h5', '.s', '300000000h'])
    t.is(parseGoDuration(text), undefined, text);
  t.deepEqual([0n, 5n, 1500n, 2_500_000n, 90_000_000_000n, -3_600_000_000_000n].map(formatGoDuration), [
    ...['0s', '5ns', '1.5\u00b5s', '2.5ms', '1m30s', '-1h0m0s'],
  ]);
});

test('a printed duration reads as the same duration in either style', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (nanoseconds) => {
      t.is(parseGoDuration(formatGoDuration(nanoseconds)), nanoseconds);
      const millis = (nanoseconds < 0n ? -nanoseconds : nanoseconds) / 1_000_000n;
      t.deepEqual(parsePromDuration(formatPromDuration(millis * 1_000_000n)), {
        ok: true,
        nanoseconds: millis * 1_000_000n,
      });
    }),
  );
});

test('sizes are read with decimal and binary units and printed with two digits', (t) => {
  for (const [text, size] of [
    ['1.5KiB', 1536],
    ['2kb', 2000],
    ['1,024 B', 1024],
    ['7', 7],
    ['3Mi', 3_145_728],
    ['1EB', 1e18],
  ] as const) {
    t.is(parseBytes(text), size, text);
  }
  for (const text of ['', 'kb', '1xb', '1.2.3kb', '99EB']) t.is(parseBytes(text), undefined, text);
  t.deepEqual([7, 10, 1000, 1536, 12_500, 13_500, 2e9].map(formatBytes), [
    ...['7B', '10B', '1.0kB', '1.5kB', '12kB', '14kB', '2.0GB'],
  ]);
});

test('a quoted text unquotes to itself', (t) => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => t.is(unquoteGo(quoteGo(text)), text)));
  t.is(
    quoteGo('a"\\\n\u0001\u007f\u00a0\u{1f600}\u{e0001}'),
    '"a\\"\\\\\\n\\x01\\x7f\\u00a0\u{1f600}\\U000e0001"',
  );
});

test('escapes are read as in Go, bytes as UTF-8', (t) => {
  t.is(unquoteGo('"\\x41\\101\\u00e9\\U0001f600\\a\\v"'), 'AA\u00e9\u{1f600}\u0007\v');
  t.is(unquoteGo('"\\xc3\\xa9\\xff"'), '\u00e9\udcff');
  t.is(quoteGo('\u00e9\udcff'), '"\u00e9\\xff"');
  t.is(unquoteGo('`\\n`'), '\\n');
  for (const text of ['"\\400"', '"\\q"', '"\\x4"', '"a', '"a\nb"', '"\\\'"', '"a"b"', '"\\U00110000"']) {
    t.is(unquoteGo(text), undefined, text);
  }
});

test('literals fold as Loki computes them', (t) => {
  t.is(foldLiterals('/', 1, 0), NaN);
  t.is(foldLiterals('%', 7, 0), NaN);
  t.is(foldLiterals('%', -7, 3), -1);
  t.is(foldLiterals('^', 1, NaN), 1);
  t.is(foldLiterals('>=', 2, 2), 1);
  t.is(foldLiterals('!=', 2, 2), 0);
});
