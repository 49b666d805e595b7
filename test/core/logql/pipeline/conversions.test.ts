import test from 'ava';
import fc from 'fast-check';
import {
  readBytes,
  readNanoseconds,
  readNumber,
  readSeconds,
} from '../../../../core/logql/pipeline/conversions.js';
import { parseBytes } from '../../../../core/logql/values/bytes.js';
import { parseGoDuration, parseGoFloat } from '../../../../core/base/time/index.js';

const digits = fc.oneof(
  fc.nat().map(String),
  fc.tuple(fc.nat({ max: 99 }), fc.nat({ max: 999 })).map(([whole, part]) => `${whole}.${part}`),
  fc.constantFrom('', '-', '.5', '5.', '1.2.3', '007', '-3', '12345678901234567', '1e3'),
);
const unit = fc.constantFrom(
  '',
  'ns',
  'us',
  'µs',
  'ms',
  's',
  'm',
  'h',
  'B',
  'kB',
  'KB',
  'MiB',
  ' GB',
  'x',
  's5ms',
);
const value = fc.tuple(digits, unit).map(([number, name]) => number + name);

test('numbers are read as by the slow and careful way', (t) => {
  fc.assert(
    fc.property(value, (text) => {
      const read = parseGoFloat(text);
      t.is(readNumber(text), read.kind === 'ok' ? read.value : read.error);
    }),
    { numRuns: 2000 },
  );
});

test('durations are read as by the slow and careful way', (t) => {
  fc.assert(
    fc.property(value, (text) => {
      const read = readNanoseconds(text);
      const slow = parseGoDuration(text);
      if (slow === undefined) t.is(typeof read, 'string', text);
      else t.is(read, Number(slow), text);
    }),
    { numRuns: 2000 },
  );
});

test('sizes are read as by the slow and careful way', (t) => {
  fc.assert(
    fc.property(value, (text) => {
      const read = readBytes(text);
      t.is(typeof read === 'string' ? undefined : read, parseBytes(text), text);
    }),
    { numRuns: 2000 },
  );
});

test('what is no value is refused in the words of Go', (t) => {
  t.is(readNumber('1.5s'), 'strconv.ParseFloat: parsing "1.5s": invalid syntax');
  t.is(readNanoseconds('abc'), 'time: invalid duration "abc"');
  t.is(readNanoseconds(''), 'time: invalid duration ""');
  t.is(readNanoseconds('-'), 'time: invalid duration "-"');
  t.is(readNanoseconds('90'), 'time: missing unit in duration "90"');
  t.is(readNanoseconds('1d'), 'time: unknown unit "d" in duration "1d"');
  t.is(readNanoseconds('1sé'), 'time: unknown unit "s\\xc3\\xa9" in duration "1s\\xc3\\xa9"');
  t.is(readNanoseconds('9999999h'), 'time: invalid duration "9999999h"');
  t.is(readBytes('abc'), 'strconv.ParseFloat: parsing "": invalid syntax');
  t.is(readBytes('5 parsecs'), 'unhandled size name: parsecs');
  t.is(readBytes('99999 PB'), 'too large: 99999 PB');
  t.is(readSeconds('1m30s'), 90);
  t.is(readBytes('4.35MB'), Math.trunc(4.35 * 1e6));
  t.is(readSeconds('15us'), 0.000015);
});
