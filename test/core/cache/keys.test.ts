import test from 'ava';
import { Selector } from '../../../core/wire/api/query.js';
import { createCacheKeys } from '../../../core/cache/keys.js';
import { makeExchange, makeTenant } from '../../../core/testing/index.js';
import { allOperations, differInOne, keptOperations } from './exchanges.js';
import { forwarding } from './samples.js';

const keyOf = createCacheKeys(forwarding);

test('what is never kept has no key, and all else has one', (t) => {
  const without = ['format_query', 'tail', 'delete', 'deletions', 'tenant'];
  for (const op of allOperations) {
    for (const { exchanges } of differInOne(op))
      for (const exchange of exchanges) t.is(keyOf(exchange) === undefined, without.includes(op), op);
  }
});

test('keys leave out these fields and no other', (t) => {
  const leftOut = keptOperations.flatMap(differInOne).filter(({ isLeftOut }) => isLeftOut);
  t.deepEqual([...new Set(leftOut.map(({ field }) => field))].sort(), [
    'caller.address',
    'caller.isBackground',
    'caller.method',
    'caller.orgId',
    'caller.yields',
    'label_values.isOpenRange',
    'labels.isOpenRange',
    'series.isOpenRange',
    'tenant.hasNoData',
    'tenant.limitIds',
    'tenant.oldestNs',
  ]);
});

for (const op of keptOperations) {
  test(`${op}: two exchanges that differ in one field alone have different keys, unless keys leave it out`, (t) => {
    for (const { field, isLeftOut, exchanges } of differInOne(op)) {
      const keys = new Set(exchanges.map(keyOf));
      t.is(keys.size, isLeftOut ? 1 : exchanges.length, field);
    }
  });
}

test('no two exchanges that differ in different fields share a key', (t) => {
  const told = keptOperations.flatMap(differInOne).filter(({ isLeftOut }) => !isLeftOut);
  const changed = told.flatMap(({ exchanges }) => exchanges.slice(1));
  t.is(new Set(changed.map(keyOf)).size, changed.length);
});

test('headers that the backend does not get make no other key', (t) => {
  const withHeader = (value: string) =>
    keyOf(
      makeExchange({
        slots: { tenant: makeTenant('a') },
        caller: { headers: new Map([['x-request-id', value]]) },
      }),
    );
  t.is(withHeader('1'), withHeader('2'));
});

test('the same question asked twice has one key, whatever the order of its selectors', (t) => {
  const ask = (selectors: readonly string[]) =>
    keyOf(
      makeExchange({
        request: {
          op: 'series',
          range: { startNs: 0n, endNs: 1n },
          selectors: selectors.map((text) => new Selector(text, 'reject')),
        },
        slots: { tenant: makeTenant('a') },
      }),
    );
  t.is(ask(['{a="1"}', '{b="2"}']), ask(['{b="2"}', '{a="1"}', '{a="1"}']));
});
