import test from 'ava';
import {
  logQueriesOf,
  mapMatchers,
  parseQuery,
  printPlain,
  visit,
  type Matcher,
} from '../../../core/logql/index.js';

const query =
  '(sum by (a)(rate({b="c"} | d="e" | drop f="g"[1m])) / label_replace(rate({h="i"}[1m]),"x","y","z","w"))';
const tenant: Matcher = { kind: 'matcher', name: 't', op: '=', value: '1', span: { start: 0, end: 0 } };

test('every selector of a query can be given another matcher, and lose it again', (t) => {
  const expr = parseQuery(query);
  const narrowed = mapMatchers(expr, (matchers) => [...matchers, tenant]);
  t.is(printPlain(narrowed), query.replace('{b="c"}', '{b="c", t="1"}').replace('{h="i"}', '{h="i", t="1"}'));
  t.is(printPlain(mapMatchers(narrowed, (matchers) => matchers.filter(({ name }) => name !== 't'))), query);
  t.is(printPlain(expr), query);
});

test('log queries keep their stages when their matchers change', (t) => {
  const expr = parseQuery('{a="b"} |= "x" | json');
  t.is(printPlain(mapMatchers(expr, () => [tenant])), '{t="1"} |= "x" | json');
});

test('a visit meets all nodes, parents first and from left to right', (t) => {
  const kinds: string[] = [];
  visit(parseQuery(query), ({ kind }) => kinds.push(kind));
  t.deepEqual(kinds, [
    ...['binary', 'vector-aggregation', 'range-aggregation', 'log-range', 'log', 'selector', 'matcher'],
    ...[
      'label-filter',
      'string',
      'drop',
      'matcher',
      'label-replace',
      'range-aggregation',
      'log-range',
      'log',
    ],
    ...['selector', 'matcher'],
  ]);
  t.is(logQueriesOf(parseQuery(query)).length, 2);
});
