import test from 'ava';
import fc from 'fast-check';
import { readNanoseconds } from '../../../../core/logql/pipeline/conversions.js';
import {
  goDurationFault,
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
    t.deepEqual(parsePrometheusDuration(text), { kind: 'ok', value: ns });
    t.is(printPrometheusDuration(ns), printed);
  });
}

const refused: readonly (readonly [text: string, message: string])[] = [
  ['', 'empty duration string'],
  ['abc', 'not a valid duration string: "abc"'],
  ['0.5m', 'unknown unit "." in duration "0.5m"'],
  ['1x', 'unknown unit "x" in duration "1x"'],
  ['5', 'not a valid duration string: "5"'],
  ['1h1h', 'not a valid duration string: "1h1h"'],
  ['-1h', 'not a valid duration string: "-1h"'],
  ['1m1h', 'not a valid duration string: "1m1h"'],
  ['300y', 'duration out of range'],
  ['99999999999999999999s', 'not a valid duration string: "99999999999999999999s"'],
];
for (const [text, message] of refused) {
  test(`the text "${text}" is no Prometheus duration: ${message}`, (t) => {
    t.deepEqual(parsePrometheusDuration(text), { kind: 'bad', error: message });
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
  ['300000000h5x', 'time: invalid duration "300000000h5x"'],
  ['.s', 'time: invalid duration ".s"'],
  ['-', 'time: invalid duration "-"'],
  ['1h5', 'time: missing unit in duration "1h5"'],
  ['1s\u00e9', 'time: unknown unit "s\\xc3\\xa9" in duration "1s\\xc3\\xa9"'],
  ['1\udcff"', 'time: unknown unit "\\xff\\"" in duration "1\\xff\\""'],
];
for (const [text, message] of refusedByGo) {
  test(`the text "${text}" is no Go duration: ${message}`, (t) => {
    t.is(parseGoDuration(text), undefined);
    t.is(goDurationFault(text), message);
  });
}

test('Go durations keep fractions down to the nanosecond', (t) => {
  t.is(parseGoDuration('1.5h'), 5_400n * second);
  t.is(parseGoDuration('0.000000001s'), 1n);
  t.is(parseGoDuration('.5s'), 500n * ms);
  t.is(parseGoDuration('-3ms'), -3n * ms);
  t.is(parseGoDuration('1s1h'), 3_601n * second);
  t.is(parseGoDuration('+10\u00b5s'), 10_000n);
  t.is(parseGoDuration('-0'), 0n);
});

// Expected values are those of Go 1.26.
for (const [text, ns] of [
  ['1.99999999999999999999s', 2_000_000_000n],
  ['204.00000093000000m', 12_240_000_055_799n],
  ['1777.53809798000000m', 106_652_285_878_799n],
  ['0.00000000000000000000001h', 0n],
  ['0.0000000009999999999999s', 0n],
] as const)
  test(`Go reads ${text} with the rounding of floats`, (t) => {
    t.is(parseGoDuration(text), ns);
    t.is(readNanoseconds(text), Number(ns));
  });

test('reading what was printed gives the duration back, in both forms', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (nanoseconds) => {
      t.is(parseGoDuration(printGoDuration(nanoseconds)), nanoseconds);
      const value = ((nanoseconds < 0n ? -nanoseconds : nanoseconds) / ms) * ms;
      t.deepEqual(parsePrometheusDuration(printPrometheusDuration(value)), { kind: 'ok', value });
    }),
  );
});

test('every text is a duration or has a fault, in both forms', (t) => {
  const piece = fc.constantFrom('1', '0', '9', '.', 'h', 'm', 's', 'ms', 'd', '-', 'x', '\u00b5s');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      t.true(parseGoDuration(text) !== undefined || goDurationFault(text).startsWith('time: '));
      t.notThrows(() => parsePrometheusDuration(text));
    }),
  );
});
