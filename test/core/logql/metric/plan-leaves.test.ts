import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { LogqlError } from '../../../../core/logql/index.js';
import { leavesOf, planLeaves, type Leaf } from '../../../../core/logql/metric/index.js';
import { metricExpr } from './run-query.js';

const lines = '({app="a"}[1m])';
const values = '({app="a"} | unwrap v [1m])';

function leavesIn(query: string): readonly Leaf[] {
  return leavesOf(planLeaves(metricExpr(query)).tree);
}

test('the labels that an aggregation looks at are told, and those of no other', (t) => {
  const folded = (query: string): unknown => leavesIn(query).map((leaf) => leaf.folded?.labels);
  t.deepEqual(folded(`max by (x) (rate${lines})`), [['x']]);
  t.deepEqual(folded(`stddev(rate${lines})`), [[]]);
  t.deepEqual(folded(`sum by (x) (rate${lines})`), [undefined]);
  t.deepEqual(folded(`topk by (x) (1, rate${lines})`), [undefined]);
  t.deepEqual(folded(`max(rate${lines} * 2)`), [undefined]);
});

test('a sum of a number is a query without a selector, and other functions fail on it', (t) => {
  for (const query of ['sum(1)', 'avg by (a) (3)', 'sort(count(1))', 'vector(1) + sum(1 + 1)']) {
    t.throws(() => planLeaves(metricExpr(query)), {
      instanceOf: LogqlError,
      message: /^parse error : queries require/,
    });
  }
  for (const query of ['sort(1)', 'sum(max(1))', 'topk(2, 1)', 'label_replace(1, "a", "b", "c", "d")']) {
    t.throws(() => planLeaves(metricExpr(query)), {
      instanceOf: ApiError,
      message: /^unexpected expr type \(\*syntax.LiteralExpr\)/,
    });
  }
  t.is(leavesIn('sum(vector(1))').length, 0);
});

for (const [query, leaves] of [
  [`rate${lines}`, ['rate root']],
  [`sum(rate${lines})`, ['rate by() root']],
  [`sum by (x, y) (count_over_time${lines})`, ['count_over_time by(x,y) root']],
  [`sum without (x) (bytes_rate${lines})`, ['bytes_rate without(x) root']],
  [`sum(bytes_over_time${lines})`, ['bytes_over_time by() root']],
  [`sum(sum_over_time${values})`, ['sum_over_time by() root']],
  [`sum(rate${values})`, ['rate by() root']],
  [`sum(max_over_time${values})`, ['max_over_time']],
  [`sum(rate_counter${values})`, ['rate_counter']],
  [`sum(absent_over_time${lines})`, ['absent_over_time']],
  [`max by (x) (rate${lines})`, ['rate']],
  [`stddev by (x) (rate${lines})`, ['rate capped']],
  [`sum(avg_over_time${values} by (x))`, ['avg_over_time']],
  [`max(sum by (x) (rate${lines}))`, ['rate by(x) capped']],
  [`topk(2, quantile_over_time(0.5, {app="a"} | unwrap v [1m]))`, ['quantile_over_time']],
  [`sum(rate${lines}) / max(count_over_time${lines})`, ['rate by() capped', 'count_over_time']],
  [`label_replace(min_over_time${values}, "a", "", "b", "")`, ['min_over_time capped']],
  [`vector(1) + 2`, []],
] as const) {
  test(`what reads logs in ${query}`, (t) => {
    const found = leavesIn(query).map(({ range, pushed, isCapped, isRoot }) =>
      [
        range.op,
        ...(pushed === undefined ? [] : [`${pushed.without ? 'without' : 'by'}(${pushed.labels.join(',')})`]),
        ...(isCapped ? ['capped'] : []),
        ...(isRoot ? ['root'] : []),
      ].join(' '),
    );
    t.deepEqual(found, [...leaves]);
  });
}
