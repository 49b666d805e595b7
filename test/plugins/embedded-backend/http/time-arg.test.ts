import test from 'ava';
import fc from 'fast-check';

import { formatTime } from '../../../../plugins/embedded-backend/logsql/index.js';
import { MAX_NS, MIN_NS, parseTime } from '../../../../plugins/embedded-backend/http/time-arg.js';

const NOW = 1_791_676_860_000_000_000n;

test('Unix times are read in the unit that their size suggests', (t) => {
  for (const text of [
    '1791676800',
    '1791676800000',
    '1791676800000000',
    '1791676800000000000',
    '1.7916768e9',
  ]) {
    t.is(parseTime(text, NOW), 1_791_676_800_000_000_000n, text);
  }
  t.is(parseTime('1791676800.5', NOW), 1_791_676_800_500_000_000n);
  t.is(parseTime('1791676800.000000001', NOW), 1_791_676_800_000_000_001n);
});

test('dates may be cut short and carry a zone', (t) => {
  const day = 1_791_676_800_000_000_000n;
  t.is(parseTime('2026-10-11', NOW), day);
  t.is(parseTime('2026-10-11T00', NOW), day);
  t.is(parseTime('2026-10-11T00:00:00.000000001Z', NOW), day + 1n);
  t.is(parseTime('2026-10-11T02:00:00+02:00', NOW), day);
  t.is(parseTime('2026', NOW), BigInt(Date.UTC(2026, 0)) * 1_000_000n);
});

test('relative times count back from now, except after now+', (t) => {
  const minute = 60_000_000_000n;
  t.is(parseTime('now', NOW), NOW);
  t.is(parseTime('5m', NOW), NOW - 5n * minute);
  t.is(parseTime('-5m', NOW), NOW - 5n * minute);
  t.is(parseTime('now-5m', NOW), NOW - 5n * minute);
  t.is(parseTime('now+5m', NOW), NOW + 5n * minute);
});

test('what is no time is refused', (t) => {
  for (const text of ['bad', '2026-13-01', '1h2', 'nowish', '']) t.is(parseTime(text, NOW), undefined, text);
});

test('every instant survives being written and read', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: MIN_NS, max: MAX_NS }), (ns) => {
      t.is(parseTime(formatTime(ns), NOW), ns);
    }),
  );
});
