import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { LogqlError } from '../../../../core/logql/index.js';
import { evaluate, instant, range, samplesOf, valuesBy, type ShortEntry } from './run-query.js';

/** Two lines in two streams, one with a label `a` and one without. */
const lines: readonly ShortEntry[] = [
  [5, '{"a":"x","n":2}', { pod: 'p' }],
  [6, '{"n":3}', { pod: 'q' }],
];
const counted = (stages: string): string => `count_over_time({app="a"} ${stages} [10s])`;
const shown = async (query: string): Promise<readonly string[]> =>
  Object.keys(await samplesOf(query, lines, instant(10))).sort();

const [kept, gone] = [
  ['{a=""}', '{a="x"}'],
  ['{a="x"}', '{}'],
];

for (const [query, wanted] of [
  // Loki divides an average if each shard contains whole series; the division drops empty labels.
  [`avg by (a) (${counted('| json a')})`, gone],
  [`avg by (a) (rate({app="a"} | label_format a="{{.b}}" [10s]))`, ['{}']],
  [`avg by (a) (quantile_over_time(0.5, {app="a"} | json a, n | unwrap n [10s]))`, gone],
  [`avg by (a) (max_over_time({app="a"} | json a, n | unwrap n [10s]))`, gone],
  [`avg by (a) (${counted('| json a')} * ${counted('| json a')})`, gone],
  [`topk(5, avg by (a) (${counted('| json a')}))`, gone],
  [`avg by (a) (${counted('| json a')}) > 0`, gone],
  // All other queries are not divided.
  [`avg by (a) (sum by (a) (${counted('| json a')}))`, kept],
  [`avg by (a) (max_over_time({app="a"} | json a, n | unwrap n [10s]) by (a))`, kept],
  [`avg by (a) (stddev_over_time({app="a"} | json a, n | unwrap n [10s]))`, kept],
  [`topk(5, avg by (a) (quantile_over_time(0.5, {app="a"} | json a, n | unwrap n [10s])))`, kept],
  [`max by (a) (${counted('| json a')})`, kept],
  [`count by (a) (${counted('| json a')})`, kept],
] as const)
  test(`labels without a value in ${query}`, async (t) => {
    t.deepEqual(await shown(query), wanted);
  });

test('a label that is empty in one line and missing in another still makes two groups of a divided average', async (t) => {
  const both: readonly ShortEntry[] = [
    [5, 'a= n=2', { pod: 'p' }],
    [6, 'n=3', { pod: 'q' }],
  ];
  const query = `avg by (a) (sum_over_time({app="a"} | logfmt --keep-empty | unwrap n [10s]))`;
  t.deepEqual(await valuesBy('a', query, both), [
    ['', 2],
    ['', 3],
  ]);
});

const perPod = counted('');

for (const query of [
  `approx_topk(1, ${perPod} / 1)`,
  `approx_topk(1, ${perPod} > 0)`,
  `approx_topk(1, ${perPod} * on (pod) ${perPod})`,
  `approx_topk(1, label_replace(${perPod}, "b", "$1", "pod", "(.*)"))`,
  `approx_topk(1, topk(5, ${perPod}))`,
  `approx_topk(1, sum by (pod) (max by (pod) (${perPod})))`,
  `approx_topk(1, approx_topk(2, ${perPod} / 1))`,
  `approx_topk(1, ${perPod} / 1) / 2`,
  // Evaluated as part of a shard.
  `sum by (pod) (approx_topk(1, ${perPod}))`,
  `sum by (pod) (approx_topk(1, sum by (pod) (${perPod})))`,
])
  test(`approx_topk over something that Loki does not divide is topk at an instant: ${query}`, async (t) => {
    const more: readonly ShortEntry[] = [...lines, [7, 'x', { pod: 'q' }]];
    const found = await valuesBy('pod', query, more);
    t.deepEqual(
      found.map(([pod]) => pod),
      ['q'],
    );
    await t.throwsAsync(evaluate(query, more, range(10, 20, 10)), {
      instanceOf: ApiError,
      message: 'count min sketches are only supported on instant queries',
    });
    await t.throwsAsync(evaluate(query, more, range(10, 20, 10), { approxTopk: 'exact' }), {
      message: 'count min sketches are only supported on instant queries',
    });
  });

for (const query of [
  `approx_topk(1, ${perPod})`,
  `approx_topk(1, sum by (pod) (${perPod}))`,
  `approx_topk(1, ${perPod} * 2)`,
  `approx_topk(1, ${perPod} + ${perPod})`,
  `approx_topk(1, avg by (pod) (${perPod}))`,
  `approx_topk(1, ${perPod}) / 2`,
  `topk(1, approx_topk(2, ${perPod}))`,
  `stddev by (pod) (approx_topk(1, ${perPod}))`,
  `label_replace(approx_topk(1, ${perPod}), "b", "$1", "pod", "(.*)")`,
])
  test(`approx_topk over something that Loki divides is refused, unless it is set to exact: ${query}`, async (t) => {
    const more: readonly ShortEntry[] = [...lines, [7, 'x', { pod: 'q' }]];
    for (const grid of [instant(10), range(10, 20, 10)])
      await t.throwsAsync(evaluate(query, more, grid), {
        instanceOf: ApiError,
        message: 'approx_topk is not enabled. See -limits.shard_aggregations',
      });
    const result = await evaluate(query, more, instant(10), { approxTopk: 'exact' });
    t.deepEqual(result.kind === 'vector' && result.samples.map(({ labels }) => labels.get('pod')), ['q']);
    await t.throwsAsync(evaluate(query, more, range(10, 20, 10), { approxTopk: 'exact' }), {
      message: 'count min sketches are only supported on instant queries',
    });
  });

test('approx_topk of what reads no logs has no selector', async (t) => {
  for (const [query, approxTopk] of [
    ['approx_topk(1, vector(1))', 'loki'],
    ['approx_topk(1, vector(1))', 'exact'],
    ['approx_topk(1, 1)', 'exact'],
  ] as const)
    await t.throwsAsync(evaluate(query, lines, instant(10), { approxTopk }), {
      instanceOf: LogqlError,
      message: /^parse error : queries require/,
    });
});

/** Values for which the sum divided by the count and the running mean differ in the last digit. */
const decimals = [0.0008, 0.0046, 0.0279];
const values = decimals.map((value, index): ShortEntry => [5 + index, `n=${value} a=x`]);

test('averages over time by labels are a sum over a count, others a running mean', async (t) => {
  const over = (grouping: string): string =>
    `avg_over_time({app="a"} | logfmt n | unwrap n [10s]) ${grouping}`;
  const [sum, mean] = [
    decimals.reduce((all, value) => all + value, 0) / decimals.length,
    decimals.reduce((before, value, index) => before + (value / (index + 1) - before / (index + 1)), 0),
  ];
  t.not(sum, mean);
  t.deepEqual(await valuesBy('app', over(''), values), [['a', mean]]);
  t.deepEqual(await valuesBy('app', over('by (app)'), values), [['a', sum]]);
});

test('averages of series are a sum over a count where Loki divides them, else a running mean', async (t) => {
  const streams = decimals.map((value, index): ShortEntry => [5 + index, `n=${value}`, { pod: `p${index}` }]);
  const sums = `sum_over_time({app="a"} | logfmt n | unwrap n [10s])`;
  const [sum, mean] = [
    decimals.reduce((all, value) => all + value, 0) / decimals.length,
    decimals.reduce((before, value, index) => before + (value - before) / (index + 1), 0),
  ];
  t.not(sum, mean);
  t.deepEqual(await valuesBy('app', `avg by (app) (${sums})`, streams), [['a', sum]]);
  t.deepEqual(await valuesBy('app', `avg by (app) (max by (app, pod) (${sums}))`, streams), [['a', mean]]);
});

test('an average of rates is the number of lines over the seconds, then over the number of series', async (t) => {
  const counts = [2, 7, 3, 8, 4];
  const streams = counts.flatMap((count, pod) =>
    Array.from({ length: count }, (_none, index): ShortEntry => [5 + index / 10, 'x', { pod: `p${pod}` }]),
  );
  const [lineCount, seconds] = [counts.reduce((all, count) => all + count, 0), 7];
  const [average, averageOfRates] = [
    lineCount / seconds / counts.length,
    counts.reduce((all, count) => all + count / seconds, 0) / counts.length,
  ];
  t.not(average, averageOfRates);
  t.deepEqual(await valuesBy('app', 'avg by (app) (rate({app="a"}[7s]))', streams), [['a', average]]);
});

/** Two lines of one stream; the second one is truncated. */
const broken: readonly ShortEntry[] = [
  [5, '{"n":2,"m":"G"}', { pod: 'p' }],
  [6, '{"n":5,"m":"G","o":"', { pod: 'p' }],
];
const withErrors = `{app="a"} | json | __error__!="x" | unwrap n [10s]`;
const failed = /^\{__error__="JSONParserErr",.* app="a", m="G", n="5", pod="p"\}$/;

for (const [query, wanted] of [
  [`max_over_time(${withErrors}) by (m)`, { '{m="G"}': { 10: 5 } }],
  [`min_over_time(${withErrors}) by (m)`, { '{m="G"}': { 10: 2 } }],
  [`avg_over_time(${withErrors}) by (m)`, { '{m="G"}': { 10: 3.5 } }],
  [`sum by (m) (max_over_time(${withErrors}) by (pod))`, { '{}': { 10: 5 } }],
] as const)
  test(`a sample with an error that a filter keeps belongs to its group in ${query}`, async (t) => {
    t.deepEqual(await samplesOf(query, broken, instant(10)), wanted);
  });

for (const query of [
  `quantile_over_time(1, ${withErrors}) by (m)`,
  `avg_over_time({app="a"} | json | unwrap n | __error__!="x" [10s]) by (m)`,
])
  test(`a sample with an error that a filter keeps is a separate series in ${query}`, async (t) => {
    const { '{m="G"}': value, ...others } = await samplesOf(query, broken, instant(10));
    t.deepEqual(value, { 10: 2 });
    t.deepEqual(Object.values(others), [{ 10: 5 }]);
    t.regex(Object.keys(others).join(), failed);
  });
