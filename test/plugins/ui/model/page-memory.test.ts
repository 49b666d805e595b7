import test from 'ava';
import {
  parsePast,
  pastOf,
  withoutQuery,
  withQuery,
  type Past,
} from '../../../../plugins/ui/browser/model/history.js';
import {
  emptyQuery,
  printHash,
  problemOf,
  viewOf,
} from '../../../../plugins/ui/browser/model/query-state.js';
import { parseSettings, usualSettings } from '../../../../plugins/ui/browser/model/settings.js';

test('queries are remembered by tenant, the newest first, each once', (t) => {
  let past: Past = [];
  for (const [at, query] of ['{a="1"}', '{a="2"}', ' {a="1"} '].entries())
    past = withQuery(past, 'one', query, at);
  past = withQuery(past, 'two', '{b="1"}', 9);
  t.deepEqual(
    pastOf(past, 'one').map(({ query }) => query),
    ['{a="1"}', '{a="2"}'],
  );
  t.deepEqual(pastOf(past, 'three'), []);
  t.deepEqual(parsePast(JSON.stringify(past)), past);
  t.deepEqual(
    pastOf(withoutQuery(past, 'one', '{a="1"}'), 'one').map(({ query }) => query),
    ['{a="2"}'],
  );
  t.deepEqual(pastOf(withoutQuery(past, 'one'), 'one'), []);
});

test('the past of queries is bounded, and odd memories are dropped', (t) => {
  let past: Past = [];
  for (let index = 0; index < 100; index++) {
    past = withQuery(past, 'one', `{a="${index}"}`, index);
    past = withQuery(past, `tenant ${index}`, '{a="b"}', index);
  }
  past = withQuery(past, 'one', 'x'.repeat(5_000), 0);
  t.is(past.length, 20);
  t.is(pastOf(past, 'one').length, 50);
  for (const text of [null, '', 'x', '{}', '[1]', '[["a",3]]'])
    t.deepEqual(parsePast(text), [], String(text));
  t.deepEqual(parsePast('[["a",[{"query":"q","atMs":1},{"query":2}]]]'), [['a', [{ query: 'q', atMs: 1 }]]]);
});

test('settings that nobody made are the usual ones', (t) => {
  for (const text of [null, 'x', 'null', '{"theme":"pink","zone":"mars","wraps":1,"newestLast":1}'])
    t.deepEqual(parseSettings(text), usualSettings);
  const set = { theme: 'dark', zone: 'utc', wraps: false, newestLast: true } as const;
  t.deepEqual(parseSettings(JSON.stringify(set)), set);
});

test('what cannot be asked says which field to mend', (t) => {
  const good = { ...emptyQuery, query: '{a="b"}' };
  const field = (part: object, range: object | string = {}, needsTenant = false): string | undefined =>
    problemOf({ ...good, ...part }, range, needsTenant)?.field;
  t.is(field({}), undefined);
  t.is(field({ query: '  ' }), 'query');
  t.is(field({ limit: 0 }), 'limit');
  t.is(field({ limit: NaN }), 'limit');
  t.is(field({ limit: 5_001 }), 'limit');
  t.is(field({}, {}, true), 'tenant');
  t.is(field({ tenant: 'a' }, {}, true), undefined);
  t.is(field({ tenant: 'ä' }), 'tenant');
  t.is(field({}, 'A custom range needs an end.'), 'range');
});

test('the address tells which view is shown', (t) => {
  t.is(viewOf(`#${printHash(emptyQuery, 'pipeline')}`), 'pipeline');
  t.is(viewOf(`#${printHash({ ...emptyQuery, query: 'view=pipeline' })}`), 'query');
  t.is(viewOf(''), 'query');
});
