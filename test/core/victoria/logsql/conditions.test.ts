import test from 'ava';
import { shortConditions, type ShortCondition } from '../../../../core/victoria/logsql/conditions.js';
import { makeHost } from '../../../../core/testing/index.js';
import {
  and,
  everything,
  exact,
  matcher,
  not,
  or,
  present,
  streamMatch,
  substring,
} from '../../../../core/victoria/logsql/build.js';
import { explainForPage } from '../../../../plugins/ui/explain.js';

async function conditions(query: string): Promise<readonly ShortCondition[]> {
  const { reads } = await explainForPage(new Map([['query', [query]]]), makeHost(), undefined);
  return reads.flatMap((read) => read.conditions);
}

test('a label that comes from the first of several fields is one condition that names them', async (t) => {
  const [first, second, none] = await conditions('{service_name="cart"} |= "x"');
  t.is(first?.text, '{service_name="cart"}');
  t.true((first?.fields.length ?? 0) > 5);
  t.true(first?.fields.includes('app'));
  t.true(second?.text.startsWith('_msg:*"x"*'));
  t.deepEqual(second?.fields, []);
  t.is(none, undefined);
});

test('matchers of one selector are conditions of their own', async (t) => {
  t.deepEqual(
    (await conditions('{namespace="shop", pod=~"a.+"}')).map(({ text }) => text),
    ['{namespace="shop"}', '{pod=~"a.+"}'],
  );
});

test('a negated label is folded with its negation', (t) => {
  const filter = not({
    kind: 'stream',
    groups: [[matcher('a', '=', 'x')], [matcher('a', '=', ''), matcher('b', '=', 'x')]],
  });
  t.deepEqual(shortConditions(filter), [{ text: '!({a="x"})', fields: ['a', 'b'] }]);
});

test('columns of rows are folded like stream fields', (t) => {
  const filter = or(
    exact('a', 'x'),
    and(exact('a', ''), exact('b', 'x')),
    and(not(present('a')), exact('c', 'x')),
  );
  t.deepEqual(shortConditions(filter), [{ text: 'a:="x"', fields: ['a', 'b', 'c'] }]);
});

test('conditions with several values, or of another kind, stay whole', (t) => {
  for (const filter of [
    or(exact('a', 'x'), exact('b', 'y')),
    or(substring('_msg', 'x'), exact('level', 'x')),
    or(exact('a', 'x'), not(exact('b', 'x'))),
    or(streamMatch(matcher('a', '=', 'x')), exact('b', 'x')),
    streamMatch(matcher('a', '=', '')),
    everything,
  ])
    t.deepEqual(
      shortConditions(filter).map(({ fields }) => fields),
      [[]],
    );
});
