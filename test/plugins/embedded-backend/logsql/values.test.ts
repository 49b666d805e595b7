import test from 'ava';
import fc from 'fast-check';
import { compareNatural, compareValues } from '../../../../core/victoria/logsql/eval/compare.js';
import { compareGoStrings } from '../../../../core/logql/values/raw-bytes.js';
import { formatFloatPlain } from '../../../../core/base/time/index.js';
import { formatIPv4, formatIPv6, parseIPv4, parseIPv6 } from '../../../../core/base/ip.js';
import {
  parseDurationNs,
  parseNumber,
  parsePlain,
  parseSize,
} from '../../../../core/victoria/logsql/numbers.js';
import { formatTime, parseDate } from '../../../../core/victoria/logsql/literals.js';
import { parseUnixTime } from '../../../../plugins/embedded-backend/logsql/index.js';
import { anyCharacter } from '../../../setup/text.js';

test('numbers are read in every form that VictoriaLogs takes for one', (t) => {
  const forms: readonly (readonly [string, number | undefined])[] = [
    ['10', 10],
    ['-3', -3],
    ['1_000', 1000],
    ['10.50', 10.5],
    ['1e3', 1000],
    ['+10', 10],
    ['010', 10],
    ['0x1F', 31],
    ['0b11', 3],
    ['.5', 0.5],
    ['5K', 5000],
    ['5KiB', 5120],
    ['1.5MB', 1_500_000],
    ['1m30s', 90e9],
    ['-1.5h', -5400e9],
    ['100µs', 100_000],
    ['Inf', Infinity],
    ['-inf', -Infinity],
    ['', undefined],
    ['abc', undefined],
    [' 10', undefined],
    ['10 ', undefined],
    ['100us', undefined],
    ['1.2.3.4', undefined],
    ['NaN', undefined],
    ['1:30', undefined],
    ['-', 0],
    ['_', 0],
    ['-_', 0],
    ['_._', 0],
    ['_-', undefined],
    ['1d-', undefined],
    ['infinite', undefined],
    ['5kb', undefined],
  ];
  for (const [text, expected] of forms) t.is(parseNumber(text), expected, text);
  t.is(parsePlain('007'), undefined);
  t.is(parseSize('1.5'), undefined);
});

test('durations are exact nanoseconds', (t) => {
  t.is(parseDurationNs('9007199254740993ns'), 9007199254740993n);
  t.is(parseDurationNs('1w2d'), 777_600_000_000_000n);
  t.is(parseDurationNs('5'), undefined);
});

test('numbers are written without exponent and read back as themselves', (t) => {
  t.is(formatFloatPlain(1e21), '1000000000000000000000');
  t.is(formatFloatPlain(1.5e-7), '0.00000015');
  t.is(formatFloatPlain(-Infinity), '-Inf');
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = formatFloatPlain(value);
        return !text.includes('e') && Object.is(Number(text), value);
      }),
    ),
  );
});

test('instants are written and read to the nanosecond', (t) => {
  t.is(formatTime(0n), '1970-01-01T00:00:00Z');
  t.is(formatTime(-1n), '1969-12-31T23:59:59.999999999Z');
  t.is(formatTime(1_791_676_800_500_000_000n), '2026-10-11T00:00:00.5Z');
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (ns) => {
        return parseDate(formatTime(ns))?.ns === ns && parseDate(formatTime(ns, 9))?.last === ns;
      }),
    ),
  );
});

test('Unix times are in seconds to nanoseconds by their size', (t) => {
  for (const text of [
    '1791676800',
    '1791676800000',
    '1791676800000000',
    '1791676800000000000',
    '1791676800.0',
  ]) {
    t.is(parseUnixTime(text), 1_791_676_800_000_000_000n, text);
  }
  t.is(parseUnixTime('1791676800.000000001'), 1_791_676_800_000_000_001n);
  t.is(parseUnixTime('1.5e9'), 1_500_000_000_000_000_000n);
  t.is(parseUnixTime('x'), undefined);
  t.is(parseDate('2026-13-01'), undefined);
});

test('addresses are read and written', (t) => {
  t.is(parseIPv4('256.1.1.1'), undefined);
  t.is(parseIPv6('::ffff:1.2.3.4'), parseIPv6('1.2.3.4'));
  for (const bad of ['', ':', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', 'g::', '12345::'])
    t.is(parseIPv6(bad), undefined, bad);
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.nat({ max: 0xffffffff }), fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (v4, v6) => {
        return parseIPv4(formatIPv4(v4)) === v4 && parseIPv6(formatIPv6(v6)) === v6;
      }),
    ),
  );
});

test('texts compare by their UTF-8 bytes', (t) => {
  const text = fc.string({ unit: anyCharacter, maxLength: 4 });
  t.notThrows(() =>
    fc.assert(
      fc.property(
        text,
        text,
        (a, b) => Math.sign(compareGoStrings(a, b)) === Buffer.compare(Buffer.from(a), Buffer.from(b)),
      ),
    ),
  );
  t.true(compareGoStrings('\uffff', '😀') < 0);
});

test('natural order reads digits as numbers and is a total order', (t) => {
  t.true(compareNatural('a9b', 'a10a') < 0);
  t.true(compareValues('9', '10') < 0);
  t.true(compareValues('2h', '90m') > 0);
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '0', '1', '9', '-'), maxLength: 5 });
  t.notThrows(() =>
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        if (Math.sign(compareNatural(a, b)) !== -Math.sign(compareNatural(b, a))) return false;
        return !(compareNatural(a, b) <= 0 && compareNatural(b, c) <= 0 && compareNatural(a, c) > 0);
      }),
      { numRuns: 3000 },
    ),
  );
});
