import test from 'ava';
import {
  lastRange,
  rangeLabel,
  rangeOf,
  shiftedRange,
  zoomedOut,
} from '../../../../../plugins/ui/browser/model/query/asked-range.js';
import {
  parseRangeText,
  parseTimeText,
  storedTimeText,
} from '../../../../../plugins/ui/browser/model/query/time-text.js';

const nowMs = Date.parse('2026-03-18T12:34:56.789Z');
const read = (text: string, isEnd = false): string | undefined => {
  const ms = parseTimeText(text, { nowMs, zone: 'utc', isEnd });
  return ms === undefined ? undefined : new Date(ms).toISOString();
};

test('a time is read as people and Grafana write it', (t) => {
  for (const [text = '', iso] of [
    ['now', '2026-03-18T12:34:56.789Z'],
    ['NOW - 2h', '2026-03-18T10:34:56.789Z'],
    ['now-1d/d', '2026-03-17T00:00:00.000Z'],
    ['now/w', '2026-03-16T00:00:00.000Z'],
    ['now-1M/M', '2026-02-01T00:00:00.000Z'],
    ['now-1y', '2025-03-18T12:34:56.789Z'],
    ['now-1d+2h', '2026-03-17T14:34:56.789Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31 12:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:01,5', '2026-01-31T12:00:01.500Z'],
    ['2026-01-31T12:00:00.123456789+05:30', '2026-01-31T06:30:00.123Z'],
    ['2026-01-31 12:00:00 -0100', '2026-01-31T13:00:00.000Z'],
    ['1770000000', '2026-02-02T02:40:00.000Z'],
    ['1770000000.25', '2026-02-02T02:40:00.250Z'],
    ['1770000000123', '2026-02-02T02:40:00.123Z'],
    ['1770000000123456', '2026-02-02T02:40:00.123Z'],
    ['1770000000123456789', '2026-02-02T02:40:00.123Z'],
  ])
    t.is(read(text), iso, text);
  for (const text of ['', 'then', 'now-', 'now-2x', '2026-13-01', '12', 'now'.repeat(40)])
    t.is(read(text), undefined, text);
});

test('a rounded end is the end of its day', (t) => {
  t.is(read('now/d', true), '2026-03-19T00:00:00.000Z');
  t.deepEqual(rangeOf({ range: 'custom', from: 'now/d', to: 'now/d' }, nowMs, 'utc'), {
    startMs: Date.parse('2026-03-18T00:00:00Z'),
    endMs: Date.parse('2026-03-19T00:00:00Z'),
  });
});

test('an address keeps a time that moves, and any other as a moment', (t) => {
  t.is(storedTimeText('now - 2h'), 'now-2h');
  t.is(storedTimeText('now-1M/M'), 'now-1M/M');
  t.is(storedTimeText('1770000000'), '2026-02-02T02:40:00.000Z');
  t.is(storedTimeText('yesterday'), '');
});

test('a pasted range fills both times', (t) => {
  const hour = { from: 'now-1h', to: 'now' };
  t.deepEqual(parseRangeText('{"from":"now-1h","to":"now"}'), hour);
  t.deepEqual(parseRangeText('https://g/explore?orgId=1&from=now-1h&to=now'), hour);
  const panes = encodeURIComponent(JSON.stringify({ a: { queries: [{ expr: '{}' }], range: hour } }));
  t.deepEqual(parseRangeText(`https://g/explore?schemaVersion=1&panes=${panes}`), hour);
  t.deepEqual(parseRangeText('2026-01-31 12:00:00 to 2026-01-31 13:00:00'), {
    from: '2026-01-31 12:00:00',
    to: '2026-01-31 13:00:00',
  });
  t.is(parseRangeText('now-1h'), undefined);
  t.is(parseRangeText('{"from":1}'), undefined);
});

test('a range moves by half its length and doubles, and one up to now stays one up to now', (t) => {
  t.deepEqual(shiftedRange({ startMs: 100, endMs: 200 }, -1), { startMs: 50, endMs: 150 });
  const lastOf = (range: '1h' | '12h') => zoomedOut({ range, from: '', to: '' }, nowMs, 'utc');
  t.deepEqual(lastOf('12h'), { range: '24h', from: '', to: '' });
  t.deepEqual(lastOf('1h'), { range: 'custom', from: 'now-7200s', to: 'now' });
  t.deepEqual(lastRange(600_000), { range: 'custom', from: 'now-600s', to: 'now' });
  const fixed = {
    range: 'custom',
    from: '2026-01-01T10:00:00.000Z',
    to: '2026-01-01T12:00:00.000Z',
  } as const;
  t.deepEqual(zoomedOut(fixed, nowMs, 'utc'), {
    range: 'custom',
    from: '2026-01-01T09:00:00.000Z',
    to: '2026-01-01T13:00:00.000Z',
  });
  t.is(rangeLabel(fixed, 'utc'), '2026-01-01 10:00:00 to 12:00:00');
});
