import test from 'ava';
import { runQuery } from './run-query.js';
import type { Fields } from './run-query.js';

const values = ['10', '9', '010', '1e1', '', '2m', 'abc'].map((v) => ({ v, w: 'k' }));

function stats(call: string, rows: readonly Fields[] = values, context = {}): string {
  return runQuery(`* | stats ${call} as x`, rows, context)[0]?.['x'] ?? '';
}

test('every function gives its result over values of all forms', (t) => {
  const expected: readonly (readonly [string, string])[] = [
    ['count()', '7'],
    ['count(v)', '6'],
    ['count(nope, v)', '6'],
    ['count(nope)', '0'],
    ['count_empty(v)', '1'],
    ['count_empty(v, w)', '0'],
    ['count_uniq(v)', '6'],
    ['count_uniq(v, w)', '7'],
    ['count_uniq(v) limit 2', '2'],
    ['sum(nope)', 'NaN'],
    ['avg(nope)', 'NaN'],
    ['min(v)', ''],
    ['max(v)', 'abc'],
    ['min(nope)', ''],
    ['sum_len(v)', '14'],
    ['uniq_values(v) limit 2', '["9","10"]'],
    ['values(w) limit 2', '["k","k"]'],
    ['quantile(1, v)', 'abc'],
    ['quantile(0, nope)', ''],
    ['stddev(v)', '0.5'],
    ['rate()', '7'],
    ['row_any(v)', '{"v":"10"}'],
    ['any(v)', '10'],
    ['json_values(v) sort by (v desc) limit 2', '[{"v":"abc"},{"v":"2m"}]'],
    ['json_values(v, w) limit 1', '[{"v":"10","w":"k"}]'],
    ['count_uniq_hash(w)', '1'],
  ];
  for (const [call, result] of expected) t.is(stats(call), result, call);
});

test('sums take durations and exponents without by, only plain decimals with it', (t) => {
  const rows = ['10', '1s', '1KB', '1e1'].map((v) => ({ v }));
  t.is(stats('sum(v)', rows), '1000001020');
  t.is(stats('avg(v)', rows), '250000255');
  t.deepEqual(runQuery('* | stats by (k) sum(v) s, avg(v) a', rows), [{ s: '10', a: '10' }]);
});

test('extremes, quantiles and edges compare by value and show the stored text', (t) => {
  const rows = [
    { v: '100ms', k: 'b' },
    { v: '2s', k: 'a' },
    { v: '1.5s', k: 'c' },
  ];
  t.is(stats('min(v)', rows), '100ms');
  t.is(stats('max(v)', rows), '2s');
  t.is(stats('median(v)', rows), '1.5s');
  t.is(stats('quantile(0.99, v)', rows), '2s');
  t.is(stats('row_max(v, k)', rows), '{"k":"a"}');
  t.is(stats('row_min(v)', rows), '{"k":"b","v":"100ms"}');
  t.is(stats('field_min(v, k)', rows), 'b');
  t.is(stats('field_max(v, k)', rows), 'a');
  t.is(stats('field_max(nope, k)', rows), '');
  t.is(stats('row_max(nope, k)', rows), '{}');
});

test('a function with a condition sees only the rows that meet it', (t) => {
  t.deepEqual(runQuery('* | stats count() if (v:>9) a, count() if () b, count() c', values), [
    { a: '4', b: '7', c: '7' },
  ]);
});

test('groups come from values without grouping marks, and from missing ones', (t) => {
  const rows = [{ g: '1_000' }, { g: '1000' }, { g: 'x_1' }, {}];
  t.deepEqual(runQuery('* | stats by (g) count() c', rows), [
    { g: '1000', c: '2' },
    { g: 'x_1', c: '1' },
    { c: '1' },
  ]);
});

test('without by there is one result for no rows, with by none', (t) => {
  t.deepEqual(runQuery('nope:* | stats count() c, sum(v) s', values), [{ c: '0', s: 'NaN' }]);
  t.deepEqual(runQuery('nope:* | stats by (v) count() c', values), []);
});

test('time buckets start at multiples of the step minus the offset', (t) => {
  const at = (time: string, bucket: string): string =>
    runQuery(`* | stats by (_time:${bucket}) count() c`, [{ _time: time }])[0]?.['_time'] ?? '';
  t.is(at('2026-10-11T00:07:30.5Z', '5m'), '2026-10-11T00:05:00Z');
  t.is(at('2026-10-11T00:07:30Z', '5m offset 1m'), '2026-10-11T00:04:00Z');
  t.is(at('2026-10-11T00:05:00Z', '5m offset -1ns'), '2026-10-11T00:00:00.000000001Z');
  t.is(at('1969-12-31T23:59:59Z', '1m'), '1969-12-31T23:59:00Z');
  t.is(at('2026-10-11T05:00:00Z', 'day'), '2026-10-11T00:00:00Z');
  t.is(at('2026-10-11T05:00:00Z', 'week'), '2026-10-05T00:00:00Z');
  t.is(at('2026-10-11T05:00:00Z', 'month'), '2026-10-01T00:00:00Z');
  t.is(at('2026-10-11T05:00:00Z', 'year'), '2026-01-01T00:00:00Z');
});

test('buckets of other fields keep the form of their values', (t) => {
  const bucket = (value: string, size: string): string =>
    runQuery(`* | stats by (v:${size}) count() c`, [{ v: value }])[0]?.['v'] ?? '';
  t.is(bucket('1234', '100'), '1200');
  t.is(bucket('-5', '10'), '-10');
  t.is(bucket('0.37', '0.1'), '0.3');
  t.is(bucket('15', '10 offset 2'), '8');
  t.is(bucket('10.1.2.77', '/24'), '10.1.2.0');
  t.is(bucket('95s', '1m'), '1m');
  t.is(bucket('2026-10-11T05:06:07Z', '1h'), '2026-10-11T05:00:00Z');
  t.is(bucket('text', '10'), 'text');
});

test('rates divide by the bucket, or by the range that was selected', (t) => {
  const rows = [
    { _time: '2026-10-11T00:00:00Z', v: '30' },
    { _time: '2026-10-11T00:00:10Z', v: '30' },
  ];
  t.deepEqual(runQuery('* | stats by (_time:1m) rate() r, rate_sum(v) s', rows), [
    { _time: '2026-10-11T00:00:00Z', r: '0.03333333333333333', s: '1' },
  ]);
  t.is(stats('rate()', rows, { rangeNs: 4_000_000_000n }), '0.5');
});

test('histograms count in eighteen ranges to a power of ten', (t) => {
  const rows = ['0', '17', '17.5', '100', 'x', '-1'].map((v) => ({ v }));
  t.is(
    stats('histogram(v)', rows),
    '[{"vmrange":"0...1.000e-09","hits":1},{"vmrange":"1.668e+01...1.896e+01","hits":2},{"vmrange":"8.799e+01...1.000e+02","hits":1}]',
  );
});

test('running_stats and total_stats accompany the rows in the order of time', (t) => {
  const rows = [
    { _time: '2026-10-11T00:00:02Z', v: '2', k: 'a' },
    { _time: '2026-10-11T00:00:01Z', v: '1', k: 'a' },
    { _time: '2026-10-11T00:00:03Z', v: '5', k: 'b' },
  ];
  const show = (text: string): string =>
    runQuery(text, rows)
      .map((row) => row['s'])
      .join(' ');
  t.is(show('* | running_stats sum(v) s'), '1 3 8');
  t.is(show('* | running_stats by (k) sum(v) s'), '1 3 5');
  t.is(show('* | total_stats by (k) sum(v) s'), '3 3 5');
});

test('results without a name are called as VictoriaLogs calls them', (t) => {
  t.deepEqual(
    Object.keys(runQuery('* | stats count(), max(v), quantile(0.9, v), count() if (v:x)', values)[0] ?? {}),
    ['count(*)', 'max(v)', 'quantile(0.9, v)', 'count(*) if (v:"x")'],
  );
});
