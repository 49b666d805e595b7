import test from 'ava';
import {
  MapRow,
  MemoryBudgetError,
  compileEmbeddedPipes,
  parseLogsql,
} from '../../../../plugins/embedded-backend/logsql/index.js';
import { rowsOf, runQuery } from './run-query.js';
import type { Fields } from './run-query.js';

const people: Fields[] = [
  { name: 'b', n: '10', team: 'x' },
  { name: 'a', n: '9', team: 'y' },
  { name: 'c', n: '1_000', team: 'x' },
  { name: 'd', team: 'y' },
];

function names(text: string): string {
  return runQuery(`* ${text}`, people)
    .map((row) => row['name'])
    .join('');
}

test('fields shows the listed columns in the order of the list, by name or prefix', (t) => {
  t.deepEqual(Object.keys(runQuery('* | fields n, name | limit 1', people)[0] ?? {}), ['n', 'name']);
  t.deepEqual(runQuery('* | fields te*, na* | limit 1', people), [{ team: 'x', name: 'b' }]);
  t.deepEqual(runQuery('* | fields * | limit 1', people), [people[0] ?? {}]);
});

test('delete, copy and rename change columns', (t) => {
  const row = { ab: '1', ac: '2', z: '3' };
  t.deepEqual(runQuery('* | delete a*', [row]), [{ z: '3' }]);
  t.deepEqual(runQuery('* | copy ab as q, q as r', [row]), [{ ...row, q: '1', r: '1' }]);
  t.deepEqual(runQuery('* | rename a* as x_*', [row]), [{ x_b: '1', x_c: '2', z: '3' }]);
  t.deepEqual(runQuery('* | mv z ab', [row]), [{ ab: '3', ac: '2' }]);
});

test('sort orders by value, puts missing values first and keeps ties in order', (t) => {
  t.is(names('| sort by (n)'), 'dabc');
  t.is(names('| sort by (n desc)'), 'cbad');
  t.is(names('| sort by (n) desc'), 'cbad');
  t.is(names('| sort by (team, n desc)'), 'cbad');
  t.is(names('| sort by (team)'), 'bcad');
  t.is(names('| sort by (n) offset 1 limit 2'), 'ab');
  t.is(names('| sort by (n desc) partition by (team) limit 1'), 'ca');
  t.is(names('| order by (name) desc'), 'dcba');
  t.is(names('| sort'), 'abcd');
});

test('sort with rank numbers the rows as they come out', (t) => {
  t.deepEqual(runQuery('* | sort by (n desc) offset 1 limit 2 rank as pos | fields name, pos', people), [
    { name: 'b', pos: '2' },
    { name: 'a', pos: '3' },
  ]);
});

test('sort orders times, durations, addresses and long integers by what they mean', (t) => {
  const sorted = (values: string[]): string =>
    runQuery(
      '* | sort by (v)',
      values.map((v) => ({ v })),
    )
      .map((row) => row['v'])
      .join(' ');
  t.is(sorted(['2h', '90m', '1m30s']), '1m30s 90m 2h');
  t.is(
    sorted(['2026-01-01T00:00:00+02:00', '2025-12-31T23:00:00.5Z']),
    '2026-01-01T00:00:00+02:00 2025-12-31T23:00:00.5Z',
  );
  t.is(sorted(['10.0.0.10', '10.0.0.9']), '10.0.0.9 10.0.0.10');
  t.is(sorted(['9007199254740993', '9007199254740992']), '9007199254740992 9007199254740993');
  t.is(sorted(['x10', 'x9', 'x']), 'x x9 x10');
});

test('a sort with a limit gives what a full sort would give first', (t) => {
  const rows = Array.from({ length: 2000 }, (_, i) => ({ v: ((i * 7919) % 2003).toString() }));
  t.deepEqual(
    runQuery('* | sort by (v) limit 5 offset 3', rows),
    runQuery('* | sort by (v)', rows).slice(3, 8),
  );
});

test('first and last take rows from either end', (t) => {
  t.is(names('| first 2 by (n)'), 'da');
  t.is(names('| last 2 by (n)'), 'cb');
  t.is(names('| first by (n desc)'), 'c');
  t.is(names('| last 1 by (n) partition by (team)'), 'ca');
});

test('limit and offset cut rows, and a limit that is reached wants no more', (t) => {
  t.is(names('| limit 2'), 'ba');
  t.is(names('| offset 3'), 'd');
  t.is(names('| limit 0'), '');
  const chain = compileEmbeddedPipes(parseLogsql('* | limit 2').pipes, () => true);
  t.true(chain.push(new MapRow(new Map([['a', '1']]))));
  t.false(chain.push(new MapRow(new Map([['a', '2']]))));
});

test('a sink that wants no more stops the results of blocking pipes too', (t) => {
  let taken = 0;
  const chain = compileEmbeddedPipes(parseLogsql('* | sort by (n)').pipes, () => ++taken < 2);
  for (const row of rowsOf(people)) chain.push(row);
  chain.finish();
  t.is(taken, 2);
});

test('uniq and top count groups; grouping drops "_" from integers', (t) => {
  t.deepEqual(runQuery('* | uniq by (team) with hits', people), [
    { team: 'x', hits: '2' },
    { team: 'y', hits: '2' },
  ]);
  t.deepEqual(runQuery('n:* | uniq by (n)', people), [{ n: '10' }, { n: '9' }, { n: '1000' }]);
  t.deepEqual(runQuery('* | uniq by (name) with hits limit 2', people), [
    { name: 'b', hits: '0' },
    { name: 'a', hits: '0' },
  ]);
  t.deepEqual(runQuery('* | top 1 by (team) hits as c rank as r', [...people, { team: 'y' }]), [
    { team: 'y', c: '3', r: '1' },
  ]);
});

test('field_names, field_values and facets describe the rows', (t) => {
  t.deepEqual(runQuery('* | field_names', people), [
    { name: 'n', hits: '3' },
    { name: 'name', hits: '4' },
    { name: 'team', hits: '4' },
  ]);
  t.deepEqual(runQuery('* | field_values team', people), [
    { team: 'x', hits: '2' },
    { team: 'y', hits: '2' },
  ]);
  t.deepEqual(runQuery('name:in(b,c) | facets 1 keep_const_fields | filter field_name:team', people), [
    { field_name: 'team', field_value: 'x', hits: '2' },
  ]);
  t.deepEqual(runQuery('name:in(b,c) | facets | fields field_name | uniq by (field_name)', people), [
    { field_name: 'n' },
    { field_name: 'name' },
  ]);
  t.deepEqual(runQuery('* | facets max_values_per_field 3 | uniq by (field_name)', people), [
    { field_name: 'n' },
    { field_name: 'team' },
  ]);
  t.deepEqual(runQuery('* | facets max_value_len 1 | uniq by (field_name)', people), [
    { field_name: 'name' },
    { field_name: 'team' },
  ]);
});

test('drop_empty_fields drops rows that have nothing', (t) => {
  t.deepEqual(runQuery('* | drop_empty_fields', [{ a: '', b: '1' }, { a: '' }]), [{ b: '1' }]);
});

test('a pipe that needs too much memory says so in VictoriaLogs words', (t) => {
  const rows = Array.from({ length: 100 }, (_, i) => ({ v: i.toString().padStart(2000, 'x') }));
  for (const [pipe, shown] of [
    ['sort by (v)', 'sort by (v)'],
    ['uniq by (v)', 'uniq by (v)'],
    ['stats by (v) count() c', 'stats by (v) count(*) as c'],
    ['stats uniq_values(v) u', 'stats uniq_values(v) as u'],
    ['top 5 by (v)', 'top 5 by (v) hits as "hits"'],
  ] as const) {
    const error = t.throws(
      () => runQuery(`* | ${pipe}`, rows, { memoryLimitBytes: 65536 }),
      { instanceOf: MemoryBudgetError },
      pipe,
    );
    t.is(error.message, `cannot calculate [${shown}], since it requires more than 0MB of memory`);
  }
  t.notThrows(() =>
    runQuery(
      '* | sort by (v) limit 2',
      rows.map((row) => ({ v: row.v.slice(0, 5) })),
      { memoryLimitBytes: 131072 },
    ),
  );
});
