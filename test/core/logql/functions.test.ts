import test from 'ava';
import { parseQuery } from '../../../core/logql/index.js';
import { rangeFunctions } from '../../../core/logql/functions/range/index.js';
import { vectorFunctions } from '../../../core/logql/functions/vector/index.js';
import { frontParts } from '../../../core/logql/metric/shards.js';
import { instant, metricExpr, range, samplesOf, type ShortEntry } from './metric/run-query.js';

const lines = '{app="a"}[1m]';
const values = '{app="a"} | unwrap v [1m]';

/** All forms of each range function. */
const written = {
  count_over_time: ['lines'],
  rate: ['lines', 'values'],
  rate_counter: ['values'],
  bytes_over_time: ['lines'],
  bytes_rate: ['lines'],
  avg_over_time: ['values', 'values by'],
  sum_over_time: ['values'],
  min_over_time: ['values', 'values by'],
  max_over_time: ['values', 'values by'],
  stdvar_over_time: ['values', 'values by'],
  stddev_over_time: ['values', 'values by'],
  quantile_over_time: ['0.5 values', '0.5 values by'],
  first_over_time: ['values', 'values by'],
  last_over_time: ['values', 'values by'],
  absent_over_time: ['lines', 'values'],
};

test('each range function takes lines, values, a parameter and a grouping as Loki does', (t) => {
  const forms = ['', '0.5 '].flatMap((parameter) =>
    ['lines', 'values'].flatMap((of) => ['', ' by'].map((by) => `${parameter}${of}${by}`)),
  );
  const found = Object.keys(rangeFunctions).map((op) => [
    op,
    forms.filter((form) => {
      const parameter = form.startsWith('0.5') ? '0.5, ' : '';
      const range = form.includes('lines') ? lines : values;
      return isTaken(`${op}(${parameter}${range})${form.endsWith('by') ? ' by (x)' : ''}`);
    }),
  ]);
  t.deepEqual(Object.fromEntries(found), written);
});

test('each vector aggregation takes a parameter and a grouping as Loki does', (t) => {
  const forms = ['', 'by', '2', '2 by'];
  const found = Object.keys(vectorFunctions).map((op) => [
    op,
    forms.filter((form) =>
      isTaken(
        `${op}${form.endsWith('by') ? ' by (x)' : ''}(${form.startsWith('2') ? '2, ' : ''}rate(${lines}))`,
      ),
    ),
  ]);
  const [plain, chosen] = [
    ['', 'by'],
    ['2', '2 by'],
  ];
  t.deepEqual(Object.fromEntries(found), {
    ...{ sum: plain, avg: plain, count: plain, max: plain, min: plain, stddev: plain, stdvar: plain },
    ...{ topk: chosen, bottomk: chosen, approx_topk: ['2'], sort: [''], sort_desc: [''] },
  });
});

function isTaken(query: string): boolean {
  try {
    parseQuery(query);
    return true;
  } catch {
    return false;
  }
}

/** A range aggregation of this function in its first form. */
function aggregationOf(op: string): string {
  const [form = ''] = written[op as keyof typeof written];
  return `${op}(${form.startsWith('0.5') ? '0.5, ' : ''}${form.endsWith('lines') ? lines : values})`;
}

test('Loki divides a range function into shards always, only outermost, or never', (t) => {
  /** True if the sum around the function is divided: by itself, and inside another aggregation. */
  const isDivided = (expr: string): readonly boolean[] =>
    [`sum(${expr})`, `topk(1, sum(${expr}))`].map((text) =>
      frontParts(metricExpr(text)).aggregations.some(({ node, isDivided: is }) => is && node.op === 'sum'),
    );
  const [always, outermost, never] = [
    [true, true],
    [true, false],
    [false, false],
  ];
  t.deepEqual(
    Object.fromEntries(Object.keys(rangeFunctions).map((op) => [op, isDivided(aggregationOf(op))])),
    {
      ...{ count_over_time: always, rate: always, bytes_over_time: always, bytes_rate: always },
      ...{ sum_over_time: always, avg_over_time: always, min_over_time: always, max_over_time: always },
      ...{ first_over_time: always, last_over_time: always, quantile_over_time: outermost },
      ...{ stdvar_over_time: never, stddev_over_time: never, rate_counter: never, absent_over_time: never },
    },
  );
});

test('Loki divides a vector aggregation into shards over lines, over a sum that groups, and over an extreme, or not', (t) => {
  const inside = [`rate(${lines})`, `sum by (x) (rate(${lines}))`, `max(rate(${lines}))`];
  const found = Object.entries(vectorFunctions).map(([op, { parameter }]) => [
    op,
    inside.filter((expr) => {
      const node = metricExpr(`${op}(${parameter === 'required' ? '2, ' : ''}${expr})`);
      return frontParts(node).aggregations.some(({ node: one, isDivided }) => isDivided && one === node);
    }),
  ]);
  const [ofLines, ofSum, ofMax] = inside;
  t.deepEqual(Object.fromEntries(found), {
    sum: [ofLines, ofSum],
    ...{ avg: [ofLines, ofMax], count: [ofLines, ofMax], min: [ofLines], max: [ofLines] },
    approx_topk: inside,
    ...{ stddev: [], stdvar: [], topk: [], bottomk: [], sort: [], sort_desc: [] },
  });
});

/** Lines by parts of the range, youngest first: 1 line, 2 lines and 4 lines. */
const hours: readonly ShortEntry[] = [
  [8_000, 'n=1', { pod: 'p' }],
  ...[5_000, 5_001].map((second): ShortEntry => [second, 'n=2', { pod: 'p' }]),
  ...[1_000, 1_001, 1_002, 1_003].map((second): ShortEntry => [second, 'n=4', { pod: 'p' }]),
];

/** Another pod has lines in the second part only, so that the whole range and its parts have different extremes. */
const two: readonly ShortEntry[] = [
  ...hours,
  ...[4_000, 4_001, 4_002].map((second): ShortEntry => [second, 'n=3', { pod: 'q' }]),
];

test('Loki divides the range of an instant query of sums and extremes: the value of its parts is another one', async (t) => {
  const valuesOf = async (query: string, grid = instant(9_000)): Promise<readonly number[]> =>
    Object.values(await samplesOf(query, two, grid)).map((points) => points[9_000] ?? NaN);
  const undivided = range(9_000, 9_000, 10);
  const divided: string[] = [];
  for (const [op, forms] of Object.entries(written)) {
    const form = forms.find((each) => each.includes('values'));
    if (form === undefined) continue;
    const over = (stages: string): string =>
      `${op}(${form.startsWith('0.5') ? '0.5, ' : ''}{app="a"} | logfmt ${stages}| unwrap n [150m])`;
    const values = await valuesOf(over(''));
    t.deepEqual(await valuesOf(over('| drop x ')), values, op);
    const [least, most] = [await valuesOf(`min(${over('')})`), await valuesOf(`max(${over('')})`)];
    if (Math.min(...least) !== Math.min(...values) || Math.max(...most) !== Math.max(...values))
      divided.push(op);
    // Different series are not merged either.
    for (const extreme of ['min', 'max'] as const) {
      const whole = await valuesOf(`${extreme}(${over('')})`, undivided);
      t.is(Math[extreme](...whole), Math[extreme](...values), `${extreme} of ${op}`);
    }
  }
  t.deepEqual(divided, ['sum_over_time', 'min_over_time', 'max_over_time']);
});

test('Loki divides the range of an instant query inside of these aggregations: a largest count is the sum of those of the parts', async (t) => {
  const found = await Promise.all(
    Object.entries(vectorFunctions)
      .filter(([, { isSketched }]) => isSketched === undefined)
      .map(async ([op, { parameter }]) => {
        const query = `${op}(${parameter === 'required' ? '1, ' : ''}max(count_over_time({app="a"}[150m])))`;
        const [points] = Object.values(await samplesOf(query, two, instant(9_000)));
        return [op, points?.[9_000]];
      }),
  );
  const [divided, whole] = [1 + 3 + 4, 7];
  t.deepEqual(Object.fromEntries(found), {
    ...{ sum: divided, avg: divided, max: divided, min: divided, count: 1 },
    ...{ topk: divided, sort: divided, sort_desc: divided },
    ...{ bottomk: whole, stddev: 0, stdvar: 0 },
  });
});

test('a rate over hours is what it counts, per second', async (t) => {
  const at = async (query: string): Promise<number | undefined> =>
    Object.values(await samplesOf(query, hours, instant(9_000)))[0]?.[9_000];
  for (const [rate, amount] of [
    ['rate({app="a"}[150m])', 'count_over_time({app="a"}[150m])'],
    ['rate({app="a"} | logfmt | unwrap n [150m])', 'sum_over_time({app="a"} | logfmt | unwrap n [150m])'],
    ['bytes_rate({app="a"}[150m])', 'bytes_over_time({app="a"}[150m])'],
  ] as const)
    for (const around of ['max', 'sum']) {
      const [one, other] = [await at(`${around}(${rate}) * 9000`), await at(`${around}(${amount})`)];
      t.is(Math.round((one ?? NaN) * 1e6) / 1e6, other ?? -1, rate);
    }
});

test('what is absent in a part of the range is not absent, and an aggregation around it has labels of its own', async (t) => {
  for (const op of ['sum', 'min', 'max', 'avg']) {
    t.deepEqual(await samplesOf(`${op}(absent_over_time({app="a"}[150m]))`, hours, instant(12_000)), {}, op);
    t.deepEqual(await samplesOf(`${op}(absent_over_time({app="b"}[1m]))`, hours, instant(9_000)), {
      '{}': { 9_000: 1 },
    });
  }
});
