import test from 'ava';
import { planLeaves } from '../../../../core/logql/metric/index.js';
import { metricExpr } from './run-query.js';

const lines = '({app="a"}[1m])';
const values = '({app="a"} | unwrap v [1m])';

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
    const found = [...planLeaves(metricExpr(query)).values()].map(({ range, pushed, isCapped, isRoot }) =>
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
