import test from 'ava';
import { type Label, LabelSet } from '../../../../core/base/label-set.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { gridColumns } from '../../../../core/logql/metric/windows.js';
import { doAll } from '../../../../core/base/pace/steps.js';
import { sortSeriesOf } from '../../../../core/logql/metric/result.js';

const hourMs = 3_600_000;
const ends: readonly Label[] = [['a', '1']];
const goesOn: readonly Label[] = [
  ['a', '1'],
  ['b', '2'],
];

/** True if a label set comes before a longer one that starts with it, over a range in milliseconds. */
function shortFirst(
  startMs: number,
  endMs: number,
  stepMs: number,
  query: string,
  splitMs = hourMs,
): boolean {
  const expr = parseQuery(query);
  if (expr.kind === 'log') throw new Error('a log query');
  const sets = [LabelSet.fromSorted(goesOn), LabelSet.empty, LabelSet.fromSorted(ends)];
  const columns = gridColumns({ kind: 'range', startMs, endMs, stepMs });
  const sorted = doAll(sortSeriesOf(sets, (set) => set, expr, columns, splitMs));
  const sizes = sorted.map(({ size }) => size).join();
  if (sizes !== '0,1,2' && sizes !== '2,1,0') throw new Error(sizes);
  return sizes === '0,1,2';
}

test('a range within an hour of the clock has its series by labels, one over several hours by their text', (t) => {
  const query = 'rate({a="b"}[1m])';
  t.true(shortFirst(0, hourMs - 60_000, 60_000, query));
  t.false(shortFirst(0, hourMs + 60_000, 60_000, query));
  t.true(shortFirst(0, hourMs + 60_000, 60_000, query, 0));
});

test('the step at which a part ends belongs to it when it is the last one', (t) => {
  const query = 'rate({a="b"}[1m])';
  t.true(shortFirst(0, hourMs, 60_000, query));
  t.true(shortFirst(0, hourMs, hourMs, query));
  t.false(shortFirst(0, 2 * hourMs, hourMs, query));
});

test('parts are as long as the longest range of the query', (t) => {
  const query = 'rate({a="b"}[3h]) or rate({a="b"}[1m])';
  t.true(shortFirst(0, 2 * hourMs, 60_000, query));
  t.false(shortFirst(0, 4 * hourMs, 60_000, query));
});
