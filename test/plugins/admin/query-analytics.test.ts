import test from 'ava';
import { RequestRecord } from '../../../core/kernel/telemetry/request-log.js';
import { makeCaller } from '../../../core/testing/index.js';
import { QueryAnalytics, reportOf } from '../../../plugins/admin/query-analytics.js';

function answered(query: string | undefined, requestType = 'query_range'): RequestRecord {
  const record = new RequestRecord('GET', '/', makeCaller(), 0);
  record.query = query;
  record.requestType = requestType;
  return record;
}

test('figures of a query are added up by text and endpoint', (t) => {
  let now = 1000;
  const analytics = new QueryAnalytics(() => now);
  analytics.finished(answered('a'), 200, 10.00004);
  now = 2000;
  analytics.finished(answered('a'), 400, 2.5);
  analytics.finished(answered('a', 'query'), 200, 1);
  analytics.finished(answered(''), 200, 1);
  analytics.finished(answered(undefined), 200, 1);
  const report = reportOf([analytics.all()]);
  t.is(report.total_queries, 3);
  t.is(report.unique_queries, 2);
  const [first, second] = report.top_by_frequency;
  t.like(first, { query: 'a', endpoint: 'query_range', count: 2, errors: 1 });
  t.like(first, { total_ms: 12.5, max_ms: 10, last_seen: 2000 });
  t.regex(first?.fingerprint ?? '', /^[0-9a-f]{16}$/);
  t.like(second, { endpoint: 'query', count: 1 });
  t.not(first?.fingerprint, second?.fingerprint);
});

test('what the page asks about a query while somebody writes it is none', (t) => {
  const analytics = new QueryAnalytics(() => 0);
  for (const endpoint of [
    'ui_check',
    'ui_explain',
    'ui_format',
    'ui_edit',
    'ui_fields',
    'ui_labels',
    'ui_outline',
    'ui_volume',
    'debug_explain',
    'ui_query_range',
  ])
    analytics.finished(answered('a', endpoint), 200, 1);
  const { total_queries, top_by_latency } = reportOf([analytics.all()]);
  t.is(total_queries, 1);
  t.deepEqual(
    top_by_latency.map(({ endpoint }) => endpoint),
    ['ui_query_range'],
  );
});

test('each list holds the first twenty of its figure', (t) => {
  const analytics = new QueryAnalytics(() => 0);
  for (let index = 0; index < 30; index += 1) {
    analytics.finished(answered(`q${index}`), index < 25 ? 500 : 200, index);
  }
  const { top_by_frequency, top_by_latency, top_by_errors } = reportOf([analytics.all()]);
  t.deepEqual([top_by_frequency.length, top_by_latency.length, top_by_errors.length], [20, 20, 20]);
  t.is(top_by_latency[0]?.query, 'q29');
  t.true(top_by_errors.every(({ errors }) => errors === 1));
});

test('the ten thousand queries seen last are tracked', (t) => {
  const analytics = new QueryAnalytics(() => 0);
  analytics.finished(answered('first'), 500, 1);
  analytics.finished(answered('second'), 500, 1);
  for (let index = 0; index < 9_998; index += 1) analytics.finished(answered(`q${index}`), 200, 1);
  analytics.finished(answered('first'), 500, 1);
  analytics.finished(answered('newest'), 200, 1);
  const report = reportOf([analytics.all()]);
  t.is(report.unique_queries, 10_000);
  t.is(report.total_queries, 10_002);
  t.deepEqual(
    report.top_by_errors.map(({ query }) => query),
    ['first'],
  );
});

test('a long query is shown cut, and told apart from others with the same beginning', (t) => {
  const analytics = new QueryAnalytics(() => 0);
  const long = 'x'.repeat(5000);
  analytics.finished(answered(`${long}a`), 200, 1);
  analytics.finished(answered(`${long}b`), 200, 1);
  const { top_by_latency } = reportOf([analytics.all()]);
  t.is(top_by_latency.length, 2);
  t.is(top_by_latency[0]?.query, `${'x'.repeat(1024)}...`);
});

test('what a query reads is added up, with the way in which it was read last', (t) => {
  const analytics = new QueryAnalytics(() => 0);
  const [read, again, little] = [answered('much'), answered('much'), answered('little')];
  const call = { path: '/select/logsql/query', type: 'query', status: 200, durationMs: 1 };
  read.trace.upstreamCalls.push({ ...call, rows: 10, bytes: 500 }, { ...call, rows: 1, bytes: 50 });
  read.trace.strategies.push(
    { leaf: 0, strategy: 'statistics', outcome: 'not-countable', durationMs: 1 },
    { leaf: 0, strategy: 'rows', outcome: 'ran', durationMs: 1 },
    { leaf: 1, strategy: 'rows', outcome: 'ran', durationMs: 1 },
  );
  again.trace.cache('hit');
  little.trace.upstreamCalls.push({ ...call, rows: 1, bytes: 9 });
  for (const one of [little, read, again, answered('from a cache')]) analytics.finished(one, 200, 1);
  const { top_by_bytes_read: top } = reportOf([analytics.all()]);
  t.deepEqual(
    top.map(({ query }) => query),
    ['much', 'little'],
  );
  t.like(top[0], { backend_calls: 2, backend_rows: 11, backend_bytes: 550, count: 2 });
  t.deepEqual(
    top[0]?.strategies.map(({ strategy, outcome }) => [strategy, outcome]),
    [
      ['statistics', 'not-countable'],
      ['rows', 'ran'],
    ],
  );
  t.regex(top[0]?.strategies[0]?.text ?? '', /the backend has no statistics for it/);
  const doubled = reportOf([analytics.all(), analytics.all()]);
  t.is(doubled.top_by_bytes_read[0]?.backend_bytes, 1100);
});

test('the slowest run of a query is told with its calls and attempts', (t) => {
  const analytics = new QueryAnalytics(() => 0);
  const slow = answered('a');
  const call = { path: '/select/logsql/query', type: 'query', status: 200, durationMs: 1 };
  slow.trace.upstreamCalls.push({ ...call, rows: 10, bytes: 500 }, { ...call, rows: 1, bytes: 50 });
  slow.trace.strategies.push({ leaf: 0, strategy: 'rows', outcome: 'ran', durationMs: 1 });
  analytics.finished(answered('a'), 200, 5);
  analytics.finished(slow, 200, 40);
  analytics.finished(answered('a'), 200, 7);
  const [told] = reportOf([analytics.all()]).top_by_latency;
  t.like(told?.slowest_run, { durationMs: 40, status: 200, calls: [{ calls: 2, rows: 11, bytes: 550 }] });
  t.is(told?.slowest_run?.strategies[0]?.strategy, 'rows');
  const other = new QueryAnalytics(() => 0);
  other.finished(answered('a'), 500, 90);
  for (const workers of [
    [analytics.all(), other.all()],
    [other.all(), analytics.all()],
  ])
    t.is(reportOf(workers).top_by_latency[0]?.slowest_run?.durationMs, 90, 'the slower worker has it');
});

test('runs of the 256 slowest queries are kept', (t) => {
  const analytics = new QueryAnalytics(() => 0);
  for (let index = 0; index < 300; index += 1) analytics.finished(answered(`q${index}`), 200, index);
  analytics.finished(answered('quick'), 200, 1);
  analytics.finished(answered('q0'), 200, 1_000);
  const kept = analytics.all().queries.filter((one) => one.slowest_run !== undefined);
  t.is(kept.length, 256);
  const names = new Set(kept.map(({ query }) => query));
  t.true(names.has('q299'));
  t.true(names.has('q0'), 'a later run was slow');
  t.false(names.has('quick'));
  t.false(names.has('q20'));
});

test('time in all is told of all queries, and decides an order', (t) => {
  const analytics = new QueryAnalytics(() => 0);
  analytics.finished(answered('once'), 200, 30);
  for (let index = 0; index < 10; index += 1) analytics.finished(answered('often'), 200, 20);
  const { total_ms: totalMs, top_by_total_time: top } = reportOf([analytics.all()]);
  t.is(totalMs, 230);
  t.deepEqual(
    top.map(({ query }) => query),
    ['often', 'once'],
  );
});
