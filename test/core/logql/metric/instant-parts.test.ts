import test from 'ava';
import { instant, range, samplesOf, type ShortEntry } from './run-query.js';

/**
 * Lines of two pods in the two and a half hours before 9000 s, by part, youngest first: p has 1, 2 and 4 lines, q has 3 in the youngest
 * part.
 */
const lines: readonly ShortEntry[] = [
  [8_000, 'n=1 x=', { pod: 'p' }],
  ...[7_000, 7_001, 7_002].map((second): ShortEntry => [second, 'n=5', { pod: 'q' }]),
  ...[5_000, 5_001].map((second): ShortEntry => [second, 'n=2', { pod: 'p' }]),
  ...[1_000, 1_001, 1_002, 1_003].map((second): ShortEntry => [second, 'n=3', { pod: 'p' }]),
];

const at = 9_000;
const selected = '{app="a"}';
const one = (value: number): object => ({ '{}': { [at]: value } });
const ask = (query: string): Promise<unknown> => samplesOf(query, lines, instant(at));

for (const [query, wanted] of [
  // The parts are (5400, 9000], (1800, 5400] and (0, 1800]; the aggregations of the parts are combined by `sum`, or by the range function.
  [`max(count_over_time(${selected}[150m]))`, 3 + 2 + 4],
  [`min(count_over_time(${selected}[150m]))`, 1 + 2 + 4],
  [`avg(count_over_time(${selected}[150m]))`, 2 + 2 + 4],
  [`sum(count_over_time(${selected}[150m]))`, 10],
  [`count(count_over_time(${selected}[150m]))`, 2],
  [`max(count_over_time(${selected}[150m] offset 2h))`, 4],
  [`max(rate(${selected}[150m])) * 9000`, 3 + 2 + 4],
  [`max(bytes_over_time(${selected}[150m]))`, 9 + 6 + 12],
  [`max(label_replace(count_over_time(${selected}[150m]), "z", "$1", "pod", "(.*)"))`, 3 + 2 + 4],
  // Parts that are only concatenated, and parts that are aggregated once more.
  [`max(count_over_time(${selected} | logfmt | drop n, x [150m]))`, 4],
  [`max(bytes_over_time(${selected} | logfmt | drop n, x [150m]))`, 12],
  [`max(rate(${selected} | logfmt | drop n, x [150m])) * 9000`, 7],
  [`max(min_over_time(${selected} | logfmt | unwrap n [150m]))`, 2],
  [`max(sum_over_time(${selected} | logfmt | unwrap n [150m]))`, 15 + 4 + 12],
  // If the function that combines the parts is the aggregation itself, the result is exact.
  [`max(max_over_time(${selected} | logfmt | unwrap n [150m]))`, 5],
  [`min(min_over_time(${selected} | logfmt | unwrap n [150m]))`, 1],
  [`min(max_over_time(${selected} | logfmt | unwrap n [150m]))`, 3],
  [`sum(max_over_time(${selected} | logfmt | unwrap n [150m]))`, 6],
  // Loki divides any expression on the left of a number.
  [`stddev(count_over_time(${selected}[150m])) / 2`, 0],
  [`bottomk(1, count_over_time(${selected}[150m])) * 1`, 1 + 2 + 4],
  // Not divided: a range of one hour, an expression inside an operation that Loki does not divide, and one side of a binary operation.
  [`max(count_over_time(${selected}[60m]))`, 3],
  [`stddev(max(count_over_time(${selected}[150m])))`, 0],
  [`stddev(count_over_time(${selected}[150m]))`, 2],
  [`bottomk(1, count_over_time(${selected}[150m]))`, 3],
  [
    `quantile_over_time(1, ${selected} | logfmt | unwrap n [150m]) by (app) - on () max(count_over_time(${selected}[150m]))`,
    5 - 7,
  ],
  [`max(count_over_time(${selected}[150m])) + max(count_over_time(${selected}[150m]))`, 18],
  [`max(count_over_time(${selected}[150m])) + max(count_over_time(${selected}[60m]))`, 7 + 3],
] as const)
  test(`an instant over hours: ${query}`, async (t) => {
    const answer = (await ask(query)) as Readonly<Record<string, Readonly<Record<string, number>>>>;
    const values = Object.values(answer).map((points) => Math.round((points[at] ?? NaN) * 1e6) / 1e6);
    t.deepEqual(values, [wanted]);
  });

test('labels without a value are gone where an instant is divided, and stay where it is not', async (t) => {
  const query = (minutes: number): string =>
    `count_over_time(${selected} | logfmt --keep-empty x="x", y="nothing" [${minutes}m])`;
  const names = async (minutes: number): Promise<readonly string[]> =>
    Object.keys((await ask(query(minutes))) as object);
  t.true((await names(60)).some((labels) => labels.includes('y=""')));
  t.false((await names(150)).some((labels) => labels.includes('=""')));
});

const mixed: readonly ShortEntry[] = [
  [8_000, '{"n":2}', { pod: 'p' }],
  [5_000, '{"a":"","n":3}', { pod: 'p' }],
  [4_000, '{"a":"x","n":4}', { pod: 'q' }],
];

for (const [query, wanted] of [
  // The sums of the parts are combined by a sum, which drops empty labels.
  ['sum by (a) (sum_over_time({app="a"} | json | unwrap n [150m]))', { '{}': 5, '{a="x"}': 4 }],
  ['sum by (a) (count_over_time({app="a"} | json a [150m]))', { '{}': 2, '{a="x"}': 1 }],
  ['sum by (a) (rate({app="a"} | json a [150m])) * 9000', { '{}': 2, '{a="x"}': 1 }],
  ['topk(5, sum by (a) (bytes_over_time({app="a"} | json a [150m])))', { '{}': 7 + 14, '{a="x"}': 15 }],
  ['sum by (a) (rate({app="a"} | json [150m])) * 9000', { '{}': 2, '{a="x"}': 1 }],
  ['sum by (a) (bytes_rate({app="a"} | json [150m])) > bool 0', { '{}': 1, '{a="x"}': 1 }],
  // With all labels, the series of the parts are concatenated.
  ['sum by (a) (count_over_time({app="a"} | json [150m]))', { '{a=""}': 1, '{a="x"}': 1, '{}': 1 }],
  ['sum by (a) (count_over_time({app="a"} | json a [20m] offset 60m))', { '{a=""}': 1 }],
] as const)
  test(`labels without a value in a sum over hours: ${query}`, async (t) => {
    const answer = await samplesOf(query, mixed, instant(at));
    const values = Object.entries(answer).map(([labels, points]) => [labels, points[at]]);
    t.deepEqual(Object.fromEntries(values), wanted);
  });

test('a range query is never divided so', async (t) => {
  const answer = await samplesOf(`max(count_over_time(${selected}[150m]))`, lines, range(at, at, 60));
  t.deepEqual(answer, one(7));
});
