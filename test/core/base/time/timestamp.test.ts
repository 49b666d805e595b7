import test from 'ava';
import fc from 'fast-check';
import {
  parseRfc3339,
  parseTimestamp,
  printRfc3339,
  TimestampError,
} from '../../../../core/base/time/index.js';

const at = 1_793_494_800_000_000_000n;

const read: readonly (readonly [text: string, ns: bigint])[] = [
  ['1793494800', at],
  ['1793494800000000000', at],
  ['1793494800000000001', at + 1n],
  ['1793494800.5', at + 500_000_000n],
  ['1793494800.123456', at + 123_000_000n],
  ['1.7934948e9', at],
  ['2026-11-01T01:00:00Z', at],
  ['2026-11-01T01:00:00.000Z', at],
  ['2026-11-01T02:00:00+01:00', at],
  ['2026-11-01T01:00:00.000000001Z', at + 1n],
  ['99999999999', 99_999_999_999n],
  ['0', 0n],
  ['-1', -1_000_000_000n],
];
for (const [text, ns] of read) {
  test(`the time ${text} is read to the nanosecond`, (t) => {
    t.is(parseTimestamp(text), ns);
  });
}

const refused: readonly (readonly [text: string, message: string])[] = [
  ['abc', 'strconv.ParseInt: parsing "abc": invalid syntax'],
  ['2026-02-30T00:00:00Z', 'strconv.ParseInt: parsing "2026-02-30T00:00:00Z": invalid syntax'],
  ['1 ', 'strconv.ParseInt: parsing "1 ": invalid syntax'],
  ['99999999999999999999', 'strconv.ParseInt: parsing "99999999999999999999": value out of range'],
  ['1.7e18', 'strconv.ParseInt: parsing "1.7e18": value out of range'],
  ['9999999999', 'strconv.ParseInt: parsing "9999999999": value out of range'],
  ['9'.repeat(100_000), `strconv.ParseInt: parsing "${'9'.repeat(100_000)}": value out of range`],
];
for (const [text, message] of refused) {
  test(`the time ${text.slice(0, 30)} is refused before anything loops over it`, (t) => {
    t.is(t.throws(() => parseTimestamp(text), { instanceOf: TimestampError }).message, message);
  });
}

test('every 64-bit moment of more than ten digits is read exactly', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 10_000_000_000n, max: 9_223_372_036_854_775_807n }), (ns) => {
      t.is(parseTimestamp(String(ns)), ns);
    }),
  );
});

test('RFC 3339 texts are read back to the nanosecond', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -2_000_000_000_000_000_000n, max: 9_000_000_000_000_000_000n }), (ns) => {
      t.is(parseRfc3339(printRfc3339(ns)), ns);
    }),
  );
});
