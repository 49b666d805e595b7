import test from 'ava';
import fc from 'fast-check';
import {
  cutWindows,
  sampledLinesOf,
  spreadSample,
} from '../../../../core/engine/patterns/pattern-windows.js';

const second = 1_000_000_000n;
const step = 10n * second;
const histograms = fc
  .array(fc.nat(500), { minLength: 1, maxLength: 40 })
  .map((counts) => counts.map((lines, index) => [index * 10, lines] as const));
const rangeOf = (buckets: number): { startNs: bigint; endNs: bigint } => ({
  startNs: 0n,
  endNs: BigInt(buckets) * step,
});

test('windows hold every line once, follow one another, and are no more than asked for', (t) => {
  fc.assert(
    fc.property(histograms, fc.integer({ min: 1, max: 10 }), (histogram, maxWindows) => {
      const windows = cutWindows(histogram, rangeOf(histogram.length), step, maxWindows);
      t.true(windows.length <= maxWindows);
      t.is(
        windows.reduce((sum, { lines }) => sum + lines, 0),
        sampledLinesOf(histogram),
      );
      for (const [index, { range }] of windows.entries()) {
        t.true(range.startNs < range.endNs);
        t.true(range.startNs >= (windows[index - 1]?.range.endNs ?? 0n));
      }
    }),
  );
});

test('windows stay within the range although buckets reach beyond it', (t) => {
  const range = { startNs: 3n * second, endNs: 17n * second };
  const [window] = cutWindows(
    [
      [0, 5],
      [10, 5],
    ],
    range,
    step,
    1,
  );
  t.deepEqual(window?.range, range);
});

test('no lines are no window', (t) => {
  t.deepEqual(cutWindows([], rangeOf(1), step, 4), []);
  t.deepEqual(cutWindows([[0, 0]], rangeOf(1), step, 4), []);
});

test('a sample stands for its part of all lines, spread as they are', (t) => {
  fc.assert(
    fc.property(histograms, fc.integer({ min: 1, max: 50 }), fc.nat(50), (histogram, read, part) => {
      const [window] = cutWindows(histogram, rangeOf(histogram.length), step, 1);
      if (window === undefined) return;
      const sampled = Math.min(part, read);
      const spread = spreadSample(window, sampled, read);
      t.is(sampledLinesOf(spread), Math.round((window.lines * sampled) / read));
      const counts = new Map(histogram);
      for (const [seconds, lines] of spread) t.true(lines <= (counts.get(seconds) ?? 0) + 1);
    }),
  );
});
