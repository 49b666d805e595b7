import test from 'ava';
import {
  createCacheKeys,
  createFingerprint,
  decidingStages,
  type Forwarding,
  setupOf,
  tenantOf,
  tenantPart,
} from '../../../core/cache/keys.js';
import { defineStage } from '../../../core/plugin/index.js';
import { makePipeline, makeExchange, makeTenant } from '../../../core/testing/index.js';
import { describeOptions } from '../../../core/kernel/options/describe.js';
import type { StaticDescription } from '../../../core/kernel/describe.js';
import type { StagePlugin } from '../../../core/kernel/plugin/contract.js';
import { Selector } from '../../../core/wire/api/request.js';
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

test('a key begins with its tenant, whatever signs the id has', (t) => {
  for (const id of ['a', '', 'a:b', 'a/%3A', '__proto__']) {
    const key = keyOf(makeExchange({ slots: { tenant: makeTenant(id) } })) ?? '';
    t.true(key.startsWith(`${tenantPart(id)}:`), key);
    t.is(tenantOf(key), tenantPart(id));
    t.is(decodeURIComponent(tenantPart(id)), id);
  }
});

const nothing: Forwarding = { forwardAuthorization: false, forwardHeaders: [], forwardCookies: [] };
const of = (forwarding: Partial<Forwarding>, headers: Readonly<Record<string, string>>): string =>
  createFingerprint({ ...nothing, ...forwarding })(new Map(Object.entries(headers))) ?? 'none';

test('there is no fingerprint when nothing is forwarded', (t) => {
  t.is(of({}, { authorization: 'Bearer 1', cookie: 'a=1; malformed' }), 'none');
  t.is(of({ forwardAuthorization: true, forwardCookies: ['a'] }, {}), 'none');
});

test('the fingerprint is 16 hex digits and tells credentials apart without showing them', (t) => {
  const one = of({ forwardAuthorization: true }, { authorization: 'Bearer 1' });
  t.regex(one, /^[0-9a-f]{16}$/);
  t.not(one, of({ forwardAuthorization: true }, { authorization: 'Bearer 2' }));
  t.is(one, of({ forwardAuthorization: true }, { authorization: 'Bearer 1', 'x-other': 'differs' }));
});

test('named headers count whatever the case of their names', (t) => {
  const forwarding = { forwardHeaders: ['X-Team'] };
  t.not(of(forwarding, { 'x-team': 'a' }), of(forwarding, { 'x-team': 'b' }));
});

test('a header and a cookie of the same name and value are different credentials', (t) => {
  const forwarding = { forwardHeaders: ['s'], forwardCookies: ['s'] };
  t.not(of(forwarding, { s: '1' }), of(forwarding, { cookie: 's=1' }));
});

test('only the named cookies count, and their order does not', (t) => {
  const forwarding = { forwardCookies: ['a', 'b'] };
  t.is(of(forwarding, { cookie: 'a=1; b=2; c=3' }), of(forwarding, { cookie: 'b=2; c=4; a=1' }));
  t.not(of(forwarding, { cookie: 'a=1' }), of(forwarding, { cookie: 'a=2' }));
  t.is(of(forwarding, { cookie: 'c=3' }), 'none');
});

test('with * every cookie counts', (t) => {
  t.not(of({ forwardCookies: ['*'] }, { cookie: 'x=1' }), of({ forwardCookies: ['*'] }, { cookie: 'x=2' }));
});

test('a cookie that is no pair counts always', (t) => {
  t.not(of({ forwardCookies: ['a'] }, { cookie: 'ab' }), of({ forwardCookies: ['a'] }, { cookie: 'ac' }));
});

test('the order in which options name headers does not matter, and a value counts for its header only', (t) => {
  const headers = { 'x-a': '1', 'x-b': '2' };
  t.is(of({ forwardHeaders: ['x-a', 'x-b'] }, headers), of({ forwardHeaders: ['x-b', 'x-a'] }, headers));
  const either = { forwardHeaders: ['x-a', 'x-b'] };
  t.not(of(either, { 'x-a': '1' }), of(either, { 'x-b': '1' }));
});

test('blanks around cookies do not count, and a value may contain an equals sign', (t) => {
  const forwarding = { forwardCookies: ['a', 'b'] };
  t.is(of(forwarding, { cookie: 'a=1;b=2' }), of(forwarding, { cookie: ' a = 1 ; b = 2 ' }));
  t.is(of(forwarding, { cookie: 'a=1;ab' }), of(forwarding, { cookie: 'ab ; a=1' }));
  t.not(of(forwarding, { cookie: 'a=x=1' }), of(forwarding, { cookie: 'a=x=2' }));
  t.not(of(forwarding, { cookie: 'a=x=1' }), of(forwarding, { cookie: 'a=x1' }));
});

test('a cookie with an empty name is none that is named', (t) => {
  t.is(of({ forwardCookies: ['a'] }, { cookie: '=1' }), 'none');
});

test('of two cookies with one name the order counts', (t) => {
  const forwarding = { forwardCookies: ['a'] };
  t.not(of(forwarding, { cookie: 'a=1; a=2' }), of(forwarding, { cookie: 'a=2; a=1' }));
});

test('fingerprints stay as they are, as what is on the disk and on peers is found by them', (t) => {
  const forwarding = { forwardAuthorization: true, forwardHeaders: ['X-Team'], forwardCookies: ['a'] };
  t.is(
    of(forwarding, { authorization: 'Bearer 1', 'x-team': 'red', cookie: 'b=2; a=1; c' }),
    '9319fe419b023b6e',
  );
});

type Described = StaticDescription['sections'][number];

function stageOf(name: string, more: Partial<StagePlugin> = {}): StagePlugin {
  return {
    ...defineStage({
      name,
      summary: '',
      needs: [],
      gives: [],
      rest: 'once',
      create: () => ({ handle: (exchange, rest) => rest(exchange) }),
    }),
    ...more,
  } as StagePlugin;
}

const schema = { type: 'object', properties: { word: { type: 'string' } } };

/** The setup text of a pipeline with a site's own cache plugin between two stages that have these words as options. */
function setupWith(before: string, behind: string): string {
  const { stages } = makePipeline({
    stages: [
      { plugin: stageOf('before', { schema }), options: { word: before } },
      stageOf('cache-of-a-site', { keepsAnswers: true }),
      { plugin: stageOf('behind', { schema }), options: { word: behind } },
      stageOf('translate'),
    ],
  });
  const described = stages.map(({ id, plugin, options, at }) => ({
    id,
    name: plugin.name,
    summary: '',
    at: at.file,
    options: describeOptions(plugin.schema ?? {}, new Map(Object.entries(options as object))),
  }));
  return setupOf({ sections: [], stages: described }, stages);
}

test('what stands behind a cache of a site is part of the setup, and what stands before it is in the request', (t) => {
  t.is(setupWith('a', 'a'), setupWith('b', 'a'));
  t.not(setupWith('a', 'a'), setupWith('a', 'b'));
});

test('stages count from the first that keeps answers or plans queries, but those that only keep answers', (t) => {
  const counted = (...names: readonly string[]): readonly string[] =>
    decidingStages(makePipeline({ stages: names.map((name) => stageOf(name)) }).stages).map(
      ({ plugin }) => plugin.name,
    );
  t.deepEqual(counted('a', 'translate', 'b'), ['translate', 'b']);
  t.deepEqual(counted('a', 'b'), ['a', 'b']);
  t.deepEqual(counted('a', 'tier0', 'kept-patterns', 'label-index', 'peer-cache', 'b'), ['a', 'b']);
});

test('names and limits are part of the setup with their values, but not what is neutral, and no other section', (t) => {
  const section = (name: string, value: unknown, isNeutral = false) =>
    ({ name, options: [{ key: 'k', value, isNeutral }] }) as unknown as Described;
  const setup = (...sections: readonly Described[]): string => setupOf({ sections, stages: [] }, []);
  t.regex(setup(), /^[0-9a-f]{16}$/);
  for (const name of ['names', 'limits']) {
    t.not(setup(section(name, 1)), setup());
    t.not(setup(section(name, 1)), setup(section(name, 2)));
    t.is(setup(section(name, 1, true)), setup(section(name, 2, true)));
    t.not(setup(section(name, undefined)), setup(section(name, undefined, true)));
  }
  t.not(setup(section('names', 1)), setup(section('limits', 1)));
  t.is(setup(section('http', 1)), setup());
});
