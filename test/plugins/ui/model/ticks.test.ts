import test from 'ava';
import { formatTick } from '../../../../plugins/ui/browser/model/format.js';
import { timeTicks } from '../../../../plugins/ui/browser/model/ticks.js';

const hour = 3_600_000;
const day = 24 * hour;
const startMs = Date.UTC(2026, 10, 19, 9, 20);

function labels(hours: number, count: number): readonly string[] {
  const range = { startMs, endMs: startMs + hours * hour };
  const { ticks, areMonths } = timeTicks(range, count, () => 0);
  return ticks.map((ms) => formatTick(ms, range, areMonths, 'utc'));
}

test('minutes and hours have times of day, and midnight has the day', (t) => {
  t.deepEqual(labels(5 / 60, 5), ['09:20', '09:21', '09:22', '09:23', '09:24', '09:25']);
  t.deepEqual(labels(24, 8), ['12:00', '15:00', '18:00', '21:00', 'Fri 20 Nov', '03:00', '06:00', '09:00']);
});

test('under seven days each day stands once, with the time of day between them', (t) => {
  t.deepEqual(labels(7 * 24, 14).slice(0, 4), ['12:00', 'Fri 20 Nov', '12:00', 'Sat 21 Nov']);
  t.deepEqual(labels(7 * 24, 7).slice(0, 3), ['Fri 20 Nov', 'Sat 21 Nov', 'Sun 22 Nov']);
  t.is(labels(7 * 24, 7).length, 7);
});

test('weeks begin on Monday, and years of days have months', (t) => {
  t.deepEqual(labels(30 * 24, 6), ['Mon 23 Nov', 'Mon 30 Nov', 'Mon 7 Dec', 'Mon 14 Dec']);
  t.deepEqual(labels(200 * 24, 8), ['Dec', '2027', 'Feb', 'Mar', 'Apr', 'May', 'Jun']);
});

test('no two neighbours under an axis are the same, whatever the range and the width', (t) => {
  for (const hours of [0.02, 0.5, 6, 24, 37, 48, 72, 168, 240, 720, 2_160, 9_000])
    for (let count = 2; count <= 16; count += 1) {
      const all = labels(hours, count);
      t.true(all.length <= count + 1, `${hours} h, ${count} labels: ${all.join(' ')}`);
      t.deepEqual(
        all.filter((label, index) => label === all[index - 1]),
        [],
        `${hours} h, ${count} labels: ${all.join(' ')}`,
      );
    }
});

const changes = [
  ['back', Date.UTC(2026, 9, 25, 1), 2, 1],
  ['forward', Date.UTC(2026, 2, 29, 1), 1, 2],
] as const;

test('days begin at midnight on both sides of a change of clocks', (t) => {
  for (const [name, changeMs, before, after] of changes) {
    const offsetAt = (ms: number): number => (ms < changeMs ? before : after) * hour;
    for (const days of [3, 7, 14]) {
      const range = { startMs: changeMs - days * day, endMs: changeMs + days * day };
      const { ticks } = timeTicks(range, 2 * days + 1, offsetAt);
      t.true(ticks.length >= 2 * days, name);
      t.true(
        ticks.every((ms) => (ms + offsetAt(ms)) % day === 0),
        name,
      );
    }
  }
});

test('hours around a change of clocks are whole hours of the place, each once', (t) => {
  for (const [name, changeMs, before, after] of changes) {
    const offsetAt = (ms: number): number => (ms < changeMs ? before : after) * hour;
    const range = { startMs: changeMs - 6 * hour, endMs: changeMs + 6 * hour };
    const { ticks } = timeTicks(range, 12, offsetAt);
    const shown = ticks.map((ms) => new Date(ms + offsetAt(ms)).toISOString().slice(11, 16));
    t.true(
      shown.every((text) => text.endsWith(':00')),
      name,
    );
    t.is(new Set(shown).size, shown.length, `${name}: ${shown.join(' ')}`);
    t.deepEqual(
      ticks,
      [...ticks].sort((a, b) => a - b),
      name,
    );
  }
});

test('a zone half an hour beside others has whole hours of its own', (t) => {
  const offset = 5.5 * hour;
  const { ticks } = timeTicks({ startMs, endMs: startMs + 12 * hour }, 12, () => offset);
  t.true(ticks.every((ms) => (ms + offset) % hour === 0));
});
