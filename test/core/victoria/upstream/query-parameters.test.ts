import test from 'ava';
import {
  and,
  everything,
  exact,
  matcher,
  or,
  query,
  substring,
  union,
} from '../../../../core/victoria/logsql/build.js';
import type { LogsqlQuery } from '../../../../core/victoria/logsql/ast.js';
import { queryParameters } from '../../../../core/victoria/upstream/open-call.js';

function selecting(value: string): LogsqlQuery {
  const groups = [[matcher('pod', '=~', value)]];
  return { filter: { kind: 'stream', groups }, pipes: [] };
}

test('a query that the backend takes is one parameter', (t) => {
  t.deepEqual(queryParameters(selecting('a|b')), [['query', '{pod=~"a|b"}']]);
});

test('a filter that is too long stands beside the query, in parentheses', (t) => {
  const value = 'x'.repeat(20_000);
  t.deepEqual(queryParameters(selecting(value)), [
    ['query', '*'],
    ['extra_filters', `({pod=~"${value}"})`],
  ]);
});

test('a filter that is too long is left out of united queries that begin with it, too', (t) => {
  const { filter } = selecting('x'.repeat(9_000));
  const asked = query(filter, [
    union(query(and(filter, exact('a', 'b')))),
    union(query(and(filter, exact('c', 'd')))),
  ]);
  t.deepEqual(
    queryParameters(asked).map(([name, value]) => [name, value.replace(/x+/, 'x')]),
    [
      ['query', '* | union (a:="b") | union (c:="d")'],
      ['extra_filters', '({pod=~"x"})'],
    ],
  );
});

test('parts of a filter that is too long are found wherever united queries have them', (t) => {
  const filter = and(selecting('x'.repeat(9_000)).filter, or(exact('b', '1'), substring('_msg', 'text')));
  const asked = query(filter, [union(query(and(filter, exact('a', 'b'))))]);
  t.is(queryParameters(asked)[0]?.[1], '* | union (a:="b")');
});

test('the bound is one of bytes', (t) => {
  t.is(queryParameters(selecting('ü'.repeat(8_000))).length, 1);
  t.is(queryParameters(selecting('ü'.repeat(8_200))).length, 2);
});

test('a query without a filter is never cut', (t) => {
  t.deepEqual(queryParameters({ filter: everything, pipes: [] }), [['query', '*']]);
});
