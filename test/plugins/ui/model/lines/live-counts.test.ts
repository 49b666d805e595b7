import test from 'ava';
import { LiveCounts } from '../../../../../plugins/ui/browser/model/lines/live-counts.js';
import { logRows, type LogRow } from '../../../../../plugins/ui/browser/model/log-rows.js';

function rowsAt(level: string, ...seconds: readonly number[]): readonly LogRow[] {
  const values = seconds.map((second) => [`${second}000000000`, 'line'] as const);
  return logRows([{ stream: { level }, values }], 'backward');
}

test('live lines are counted by level in bars that end now, and those that are too old are forgotten', (t) => {
  const counts = new LiveCounts(1_000_000);
  counts.add(rowsAt('info', 996, 999, 1000), 1_000_000);
  counts.add(rowsAt('error', 998, 700), 1_000_000);
  const first = counts.histogram(1_000_000);
  t.is(first.bars.length, 48);
  t.like(first.bars.at(-1), { startMs: 995_000, endMs: 1_000_000, total: 4 });
  t.deepEqual(first.totals, [
    ['error', 1],
    ['info', 3],
  ]);
  // Four minutes later, all bars are different.
  const later = counts.histogram(1_240_000);
  t.is(later.bars.length, 48);
  t.deepEqual(later.totals, []);
});

test('a line whose sender’s clock is ahead counts as of now', (t) => {
  const counts = new LiveCounts(1_000_000);
  counts.add(rowsAt('info', 5000), 1_000_000);
  t.like(counts.histogram(1_000_000).bars.at(-1), { endMs: 1_000_000, total: 1 });
});

test('the rate of live lines is that of the last ten seconds, without the history', (t) => {
  const counts = new LiveCounts(1_000_000);
  counts.add(rowsAt('info', 990, 991, 992), 1_000_000, true);
  t.is(counts.perSecond(1_001_000), 0);
  counts.add(rowsAt('info', 1001, 1001, 1001), 1_001_000);
  t.is(counts.perSecond(1_001_000), 3);
  t.is(counts.perSecond(1_003_000), 1);
  counts.add(rowsAt('info', 1008), 1_008_000);
  t.is(counts.perSecond(1_010_500), 0.4);
  t.is(counts.perSecond(1_011_000), 0.1);
  t.is(counts.perSecond(1_018_000), 0);
});
