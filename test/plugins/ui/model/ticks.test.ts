import test from 'ava';
import { formatTick } from '../../../../plugins/ui/browser/model/format.js';
import { timeTicks } from '../../../../plugins/ui/browser/model/ticks.js';

const hour = 3_600_000;
const startMs = Date.UTC(2026, 10, 19, 9, 20);

function labels(hours: number, count: number): readonly string[] {
  const range = { startMs, endMs: startMs + hours * hour };
  return timeTicks(range, count, () => 0).map((ms) => formatTick(ms, range, 'utc'));
}

test('under seven days each day stands once, with the time of day between them', (t) => {
  t.deepEqual(labels(7 * 24, 14).slice(0, 4), ['12:00', '11-20', '12:00', '11-21']);
  t.deepEqual(labels(7 * 24, 7), ['11-20', '11-21', '11-22', '11-23', '11-24', '11-25', '11-26']);
});

test('no two neighbours under an axis are the same, whatever the range and the width', (t) => {
  for (const hours of [0.02, 0.5, 6, 24, 37, 48, 72, 168, 240, 720, 2_160])
    for (let count = 2; count <= 16; count += 1) {
      const all = labels(hours, count);
      t.deepEqual(
        all.filter((label, index) => label === all[index - 1]),
        [],
        `${hours} h, ${count} labels: ${all.join(' ')}`,
      );
    }
});

test('days begin at midnight on both sides of a change of clocks', (t) => {
  const changeMs = Date.UTC(2026, 9, 25, 1);
  const offsetAt = (ms: number): number => (ms < changeMs ? 2 : 1) * hour;
  const range = { startMs: changeMs - 72 * hour, endMs: changeMs + 72 * hour };
  const ticks = timeTicks(range, 7, offsetAt);
  t.is(ticks.length, 6);
  t.true(ticks.every((ms) => (ms + offsetAt(ms)) % (24 * hour) === 0));
});
