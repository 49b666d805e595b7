import test from 'ava';
import fc from 'fast-check';
import {
  DurationError,
  parseGoDuration,
  parsePrometheusDuration,
  printGoDuration,
  printPrometheusDuration,
} from '../../../../core/base/time/index.js';

const ms = 1_000_000n;
const second = 1_000n * ms;
const hour = 3_600n * second;

const prometheus: readonly (readonly [text: string, ns: bigint, printed: string])[] = [
  ['0', 0n, '0s'],
  ['0s', 0n, '0s'],
  ['5m', 300n * second, '5m'],
  ['1h30m', 5_400n * second, '1h30m'],
  ['90m', 5_400n * second, '1h30m'],
  ['2h', 2n * hour, '2h'],
  ['24h', 24n * hour, '1d'],
  ['721h', 721n * hour, '30d1h'],
  ['90d', 90n * 24n * hour, '90d'],
  ['2w', 14n * 24n * hour, '2w'],
  ['1y', 365n * 24n * hour, '1y'],
  ['1500ms', 1_500n * ms, '1s500ms'],
];
for (const [text, ns, printed] of prometheus) {
  test(`the Prometheus duration ${text} is read and printed as ${printed}`, (t) => {
    t.is(parsePrometheusDuration(text), ns);
    t.is(printPrometheusDuration(ns), printed);
  });
}

const refused: readonly (readonly [text: string, message: string])[] = [
  ['', 'empty duration string'],
  ['abc', 'not a valid duration string: "abc"'],
  ['0.5m', 'not a valid duration string: "0.5m"'],
  ['-1h', 'not a valid duration string: "-1h"'],
  ['1m1h', 'not a valid duration string: "1m1h"'],
  ['300y', 'duration out of range'],
  ['99999999999999999999999999999999s', 'duration out of range'],
];
for (const [text, message] of refused) {
  test(`the text "${text}" is no Prometheus duration: ${message}`, (t) => {
    const error = t.throws(() => parsePrometheusDuration(text), { instanceOf: DurationError });
    t.is(error.message, message);
  });
}

const go: readonly (readonly [ns: bigint, printed: string])[] = [
  [0n, '0s'],
  [4n * hour, '4h0m0s'],
  [744n * hour, '744h0m0s'],
  [90n * second, '1m30s'],
  [1_500n * ms, '1.5s'],
  [300n * ms, '300ms'],
  [1_500n, '1.5µs'],
  [7n, '7ns'],
  [-90n * second, '-1m30s'],
];
for (const [ns, printed] of go) {
  test(`Go prints ${String(ns)} ns as ${printed} and reads it back`, (t) => {
    t.is(printGoDuration(ns), printed);
    t.is(parseGoDuration(printed), ns);
  });
}

const refusedByGo: readonly (readonly [text: string, message: string])[] = [
  ['', 'time: invalid duration ""'],
  ['h', 'time: invalid duration "h"'],
  ['1', 'time: missing unit in duration "1"'],
  ['1d', 'time: unknown unit "d" in duration "1d"'],
  ['9999999999h', 'time: invalid duration "9999999999h"'],
];
for (const [text, message] of refusedByGo) {
  test(`the text "${text}" is no Go duration: ${message}`, (t) => {
    t.is(t.throws(() => parseGoDuration(text), { instanceOf: DurationError }).message, message);
  });
}

test('Go durations keep fractions down to the nanosecond', (t) => {
  t.is(parseGoDuration('1.5h'), 5_400n * second);
  t.is(parseGoDuration('0.000000001s'), 1n);
  t.is(parseGoDuration('.5s'), 500n * ms);
});

test('reading what was printed gives the duration back, in both forms', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 9_223_372_036_854n }), (count) => {
      t.is(parsePrometheusDuration(printPrometheusDuration(count * ms)), count * ms);
      t.is(parseGoDuration(printGoDuration(count * ms + 7n)), count * ms + 7n);
    }),
  );
});

test('no text makes the readers fail with anything else than DurationError', (t) => {
  const piece = fc.constantFrom('1', '0', '9', '.', 'h', 'm', 's', 'ms', 'd', '-', 'x', 'µs');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      for (const parse of [parsePrometheusDuration, parseGoDuration]) {
        try {
          t.is(typeof parse(pieces.join('')), 'bigint');
        } catch (error) {
          t.true(error instanceof DurationError);
        }
      }
    }),
  );
});
