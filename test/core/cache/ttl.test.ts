import test from 'ava';
import { type ApiRequest, type Operation, Query, Selector } from '../../../core/wire/api/request.js';
import type { Answer } from '../../../core/wire/answer/types.js';
import { mostTtlMs, ttlMs } from '../../../core/cache/answer-caching.js';
import type { TtlRules } from '../../../core/operations/descriptor.js';
import { requestOf } from './samples.js';
import { makeLogAnswer, makeLogRequest } from '../../../core/testing/index.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const rules: TtlRules = {
  queryTtl: 5 * minuteMs,
  labelsCacheTtl: 0,
  diskCacheMinTtl: 20_000,
  peerWriteThroughMinTtl: 10_000,
  recentTailRefreshEnabled: true,
  recentTailRefreshWindow: 2 * minuteMs,
  recentTailRefreshMaxStaleness: 2_000,
  maxMetadataCacheFreshness: 24 * hourMs,
};
const endMs = 1_793_491_200_000;
const longAfterMs = endMs + 30 * 24 * hourMs;
const names: Answer = { kind: 'names', values: ['app'], warnings: [] };
const noNames: Answer = { kind: 'names', values: [], warnings: [] };
const series: Answer = { kind: 'series', series: [], warnings: [] };
const stats: Answer = { kind: 'index-stats', streams: 1, chunks: 1, bytes: 1, entries: 1, warnings: [] };

const rangeOf = (hours: number): { startNs: bigint; endNs: bigint } => ({
  startNs: BigInt(endMs - hours * hourMs) * 1_000_000n,
  endNs: BigInt(endMs) * 1_000_000n,
});
const labels = (hours: number): ApiRequest => ({ op: 'labels', range: rangeOf(hours), browse: {} });
const logs: ApiRequest = { ...makeLogRequest(), op: 'query_range', range: rangeOf(1) } as ApiRequest;

const query = new Selector('{a="b"}', 'reject');
const volume: ApiRequest = {
  op: 'volume',
  range: rangeOf(24),
  query,
  limit: 1,
  targetLabels: [],
  aggregateBy: 'series',
};
const noStats = makeLogAnswer({}, []).stats;
const fields = (hours: number): ApiRequest => ({
  op: 'detected_fields',
  range: rangeOf(hours),
  query: new Query('{a="b"}', 'reject'),
  limit: 1,
  lineLimit: 1,
});
const foundFields: Answer = { kind: 'detected-fields', fields: [], limit: 1, warnings: [] };
const foundLabels: Answer = { kind: 'detected-labels', labels: [], warnings: [] };
const patterns: ApiRequest = {
  op: 'patterns',
  range: rangeOf(1),
  query,
  stepNs: 1n,
  limit: 1,
  search: { maxRows: 1, secondPassMaxRows: 0, secondPassMaxWindows: 0, custom: [] },
};
const foundPatterns: Answer = {
  kind: 'patterns',
  patterns: [{ pattern: 'a <_>', level: 'info', samples: [] }],
  warnings: [],
};

const table: readonly [
  what: string,
  request: ApiRequest,
  answer: Answer,
  expectedMs: number,
  rules?: Partial<TtlRules>,
][] = [
  ['labels over 1h', labels(1), names, 5 * minuteMs],
  ['labels over 6h', labels(6), names, 15 * minuteMs],
  ['labels over 24h', labels(24), names, 50 * minuteMs],
  ['labels over 7d, capped at 1h', labels(7 * 24), names, hourMs],
  ['labels with a configured time', labels(1), names, 20_000, { labelsCacheTtl: 20_000 }],
  ['labels with a configured time over 1h', labels(24), names, 2 * hourMs, { labelsCacheTtl: 2 * hourMs }],
  ['no labels at all', labels(24), noNames, 30_000],
  ['no labels where the disk takes longer ones', labels(24), noNames, 70_000, { diskCacheMinTtl: 70_000 }],
  ['no labels where peers take longer ones', labels(24), noNames, 80_000, { peerWriteThroughMinTtl: 80_000 }],
  [
    'no values of a label where the disk takes longer ones',
    { op: 'label_values', name: 'app', range: rangeOf(1), browse: {} },
    noNames,
    90_000,
    { diskCacheMinTtl: 90_000 },
  ],
  ['label values', { op: 'label_values', name: 'app', range: rangeOf(1), browse: {} }, names, 5 * minuteMs],
  ['series', { op: 'series', range: rangeOf(1), selectors: [] }, series, 30_000],
  [
    'index statistics',
    { op: 'index_stats', range: rangeOf(1), query: new Selector('{a="b"}', 'reject') },
    stats,
    10_000,
  ],
  ['volumes', volume, { kind: 'volume', series: [], stats: noStats, warnings: [] }, 10_000],
  ['detected fields over 1h', fields(1), foundFields, 90_000],
  ['detected fields over 6h', fields(6), foundFields, 270_000],
  ['detected fields over 30d, capped at 1h', fields(30 * 24), foundFields, 30 * minuteMs],
  ['detected labels', { op: 'detected_labels', range: rangeOf(24) }, foundLabels, 15 * minuteMs],
  ['patterns of the past', patterns, foundPatterns, 100 * 365 * 24 * hourMs],
  ['no patterns at all', patterns, { ...foundPatterns, patterns: [] }, 30_000],
  ['log queries', logs, makeLogAnswer({}, ['x']), 5 * minuteMs],
  ['answers with warnings', labels(1), { ...names, warnings: ['partial'] }, 0],
];
for (const [what, request, answer, expectedMs, change] of table) {
  test(`${what}: kept for ${expectedMs} ms`, (t) => {
    t.is(ttlMs(request, answer, longAfterMs, { ...rules, ...change }), expectedMs);
  });
}

/** The TTL of a range that ends long ago, and of one that ends now; labels count as recent for a day. */
const byOperation: Readonly<Partial<Record<Operation, readonly [pastMs: number, recentMs: number]>>> = {
  query_range: [5 * minuteMs, 2_000],
  query: [5 * minuteMs, 2_000],
  labels: [5 * minuteMs, 2_000],
  label_values: [5 * minuteMs, 2_000],
  series: [30_000, 2_000],
  index_stats: [10_000, 10_000],
  index_shards: [10_000, 10_000],
  volume: [10_000, 10_000],
  volume_range: [10_000, 10_000],
  detected_labels: [90_000, 90_000],
  detected_fields: [90_000, 90_000],
  detected_field_values: [90_000, 90_000],
  patterns: [100 * 365 * 24 * hourMs, 2_000],
  format_query: [0, 0],
  tail: [0, 0],
  delete: [0, 0],
  tenant: [0, 0],
};
for (const [op, expected] of Object.entries(byOperation)) {
  test(`answers to ${op} are kept as long as the operation says, and near to now as long as it allows`, (t) => {
    const range = rangeOf(1);
    const request = requestOf(op as Operation, { range, timeNs: range.endNs });
    const kept = [longAfterMs, endMs].map((nowMs) => ttlMs(request, stats, nowMs, rules));
    t.deepEqual(kept, expected);
  });
}

test('patterns that reach to now are kept for the allowed staleness, whether queries are refreshed or not', (t) => {
  const off = { ...rules, recentTailRefreshEnabled: false };
  t.is(ttlMs(patterns, foundPatterns, endMs + minuteMs, off), 2_000);
  t.is(ttlMs(patterns, foundPatterns, endMs - hourMs, off), 2_000);
});

test('a query that ends near now is kept for the allowed staleness only', (t) => {
  const answer = makeLogAnswer({}, ['x']);
  t.is(ttlMs(logs, answer, endMs + 2 * minuteMs, rules), 2_000);
  t.is(ttlMs(logs, answer, endMs + 2 * minuteMs + 1, rules), 5 * minuteMs);
  t.is(ttlMs(logs, answer, endMs - hourMs, rules), 2_000);
});

test('label and series requests count as recent for longer, unless that is switched off', (t) => {
  t.is(ttlMs(labels(1), names, endMs + 23 * hourMs, rules), 2_000);
  t.is(ttlMs(labels(1), names, endMs + 25 * hourMs, rules), 5 * minuteMs);
  t.is(ttlMs(labels(1), names, endMs, { ...rules, maxMetadataCacheFreshness: 0 }), 5 * minuteMs);
});

test('labels that list nothing near now are kept for the allowed staleness, however long the disk asks', (t) => {
  const long = { ...rules, diskCacheMinTtl: hourMs, peerWriteThroughMinTtl: hourMs };
  t.is(ttlMs(labels(1), noNames, endMs + hourMs, long), 2_000);
  t.is(ttlMs(labels(1), noNames, endMs + 25 * hourMs, long), hourMs);
});

test('nothing is recent when refreshing is switched off', (t) => {
  t.is(
    ttlMs(logs, makeLogAnswer({}, ['x']), endMs, { ...rules, recentTailRefreshEnabled: false }),
    5 * minuteMs,
  );
});

test('bytes that another stage made are not kept', (t) => {
  const encoded: Answer = {
    kind: 'encoded',
    status: 200,
    contentType: 'application/json',
    headers: new Map(),
    body: Buffer.alloc(0),
  };
  t.is(ttlMs(labels(1), encoded, longAfterMs, rules), 0);
});

test('an answer that was kept for longer is used for the allowed staleness once its window counts as recent', (t) => {
  t.is(mostTtlMs(logs, endMs + minuteMs, rules), 2_000);
  t.is(mostTtlMs(logs, endMs + 3 * minuteMs, rules), Infinity);
  t.is(mostTtlMs({ op: 'format_query', query: new Query('{a="b"}', 'reject') }, endMs, rules), Infinity);
});
