import test from 'ava';
import fc from 'fast-check';
import { parseDuration, printDuration } from '../../../../core/kernel/options/index.js';

const readable = new Map([
  ['0', 0],
  ['0s', 0],
  ['30s', 30_000],
  ['1.5s', 1500],
  ['.5s', 500],
  ['1h30m', 5_400_000],
  ['250ms', 250],
  ['250us', 0.25],
  ['250µs', 0.25],
  ['1ns', 0.000001],
  ['0.3s', 300],
  ['168h', 604_800_000],
]);
for (const [text, ms] of readable) {
  test(`the duration ${text} is ${ms} milliseconds`, (t) => t.is(parseDuration(text), ms));
}

for (const text of ['', '5', '-5s', '5 s', '5x', '1d', 's', '1.2.3s', '5s5', '1e3s', '5S']) {
  test(`${JSON.stringify(text)} is no duration`, (t) => t.is(parseDuration(text), undefined));
}

test('days, weeks and years are durations where Loki takes them', (t) => {
  t.is(parseDuration('90d', 'long'), 90 * 86_400_000);
  t.is(parseDuration('1w', 'long'), 7 * 86_400_000);
  t.is(parseDuration('1y', 'long'), 365 * 86_400_000);
  t.is(parseDuration('30d1h', 'long'), 721 * 3_600_000);
  t.is(parseDuration('1M', 'long'), undefined);
});

test('a duration that was printed reads as the same number', (t) => {
  const ms = fc.oneof(
    fc.nat(),
    fc.nat({ max: 10_000 }).map((s) => s * 1000),
    fc.nat({ max: 2000 }).map((h) => h * 3_600_000),
    fc.nat({ max: 10_000_000 }).map((ns) => ns / 1e6),
  );
  fc.assert(fc.property(ms, (value) => parseDuration(printDuration(value)) === value));
  t.is(printDuration(5_400_000), '90m');
});
