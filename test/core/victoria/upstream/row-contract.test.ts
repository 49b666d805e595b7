import test from 'ava';
import {
  everything,
  fields,
  limit,
  query,
  stats,
  statsFunction,
  timeBucket,
  union,
} from '../../../../core/victoria/logsql/build.js';
import { UnexpectedAnswer } from '../../../../core/victoria/upstream/decode.js';
import { RowContract } from '../../../../core/victoria/upstream/answer-rows.js';
import type { LogsqlPipe } from '../../../../core/victoria/logsql/ast.js';
import type { BackendRow } from '../../../../core/victoria/upstream/types.js';

const time = '2026-11-01T00:00:00.123Z';

/** True if a JSON row is accepted in a response to a query with these pipes. */
function takes(pipes: readonly LogsqlPipe[], row: string): boolean {
  try {
    new RowContract(query(everything, pipes)).check(JSON.parse(row) as BackendRow);
    return true;
  } catch (error) {
    if (error instanceof UnexpectedAnswer) return false;
    throw error;
  }
}

test('rows have texts and a time, wherever the query leaves it in', (t) => {
  t.true(takes([], `{"_time":"${time}","_stream":"{}","_msg":"a"}`));
  t.true(takes([limit(1)], `{"_time":"${time}"}`));
  for (const row of [
    '{}',
    '{"error":"no"}',
    '{"_time":null}',
    '{"_time":"now"}',
    `{"_time":"${time}","a":1}`,
    `{"_time":"${time}","a":null}`,
    `{"_time":"${time}","__proto__":1}`,
  ])
    t.false(takes([], row), row);
  t.true(takes([fields('_msg')], '{"_msg":"a"}'));
  t.false(takes([fields('_time', '_msg')], '{"_msg":"a"}'));
});

test('groups have their counts, and a time where they are made by it', (t) => {
  const count = statsFunction('count', [], 'rows');
  const byApp = [stats(['app'], count, statsFunction('max', ['a'], 'most')), limit(5)];
  t.true(takes(byApp, '{"app":"a","rows":"5"}'));
  for (const rows of ['-1', '1.5', 'x', '', 'NaN']) t.false(takes(byApp, `{"app":"a","rows":"${rows}"}`));
  t.false(takes(byApp, '{"app":"a"}'));
  const byTime = [stats([timeBucket(60_000_000_000n)], count)];
  t.true(takes(byTime, `{"_time":"${time}","rows":"5"}`));
  t.false(takes(byTime, '{"rows":"5"}'));
});

test('united queries have the rows of any of them', (t) => {
  const counting = (name: string): LogsqlPipe => stats([], statsFunction('count', [], name));
  const both = [counting('rows'), union(query(everything, [counting('missing')]))];
  t.true(takes(both, '{"rows":"5"}'));
  t.true(takes(both, '{"missing":"5"}'));
  t.false(takes(both, '{"others":"5"}'));
  t.false(takes(both, '{"missing":"x"}'));
});

test('columns of statistics are those that were asked for', (t) => {
  const contract = new RowContract(query(everything, [stats([], statsFunction('count', [], 'rows'))]));
  t.notThrows(() => contract.checkColumn('rows', ['5', '0']));
  t.throws(() => contract.checkColumn('rows', ['5', '-1']), { instanceOf: UnexpectedAnswer });
  t.throws(() => contract.checkColumn('other', ['5']), { instanceOf: UnexpectedAnswer });
});
