import test from 'ava';
import fc from 'fast-check';
import { Query, Selector } from '../../../core/wire/api/query.js';
import type { ApiRequest, Browse } from '../../../core/wire/api/request.js';
import { createFingerprint } from '../../../core/cache/fingerprint.js';
import { cacheKey, escapeText, isNeverKept } from '../../../core/cache/keys.js';
import type { Exchange } from '../../../core/kernel/plugin/exchange.js';
import { makeExchange, makeLogRequest, makeTenant } from '../../../core/testing/index.js';
import { anyCharacter } from '../../setup/text.js';

// Texts made of what keys are made of, to provoke confusion between parts.
const texts = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'b', ':', '.', '&', '=', '%', ',', '*', '|', '2', 'u', '\u00e9'),
    maxLength: 6,
  }),
  fc.string({ unit: anyCharacter, maxLength: 4 }),
);
const range = fc.record({ startNs: fc.bigInt(0n, 3n), endNs: fc.bigInt(0n, 3n) });
const browse: fc.Arbitrary<Browse> = fc.record(
  { limit: fc.nat(2), offset: fc.nat(2), search: texts },
  { requiredKeys: [] },
);
const selector = texts.map((text) => new Selector(text, 'reject'));

const requests: fc.Arbitrary<ApiRequest> = fc.oneof(
  fc.record({
    op: fc.constant('query_range' as const),
    query: texts.map((text) => new Query(text, 'reject')),
    range,
    stepNs: fc.bigInt(1n, 2n),
    limit: fc.nat(2),
    direction: fc.constantFrom('forward' as const, 'backward' as const),
    intervalNs: fc.bigInt(0n, 1n),
  }),
  fc.record({
    op: fc.constant('query' as const),
    query: texts.map((text) => new Query(text, 'reject')),
    timeNs: fc.bigInt(0n, 2n),
    limit: fc.nat(2),
    direction: fc.constantFrom('forward' as const, 'backward' as const),
  }),
  fc.record(
    { op: fc.constant('labels' as const), range, browse, query: selector },
    { requiredKeys: ['op', 'range', 'browse'] },
  ),
  fc.record(
    { op: fc.constant('label_values' as const), name: texts, range, browse, query: selector },
    { requiredKeys: ['op', 'name', 'range', 'browse'] },
  ),
  fc.record({ op: fc.constant('series' as const), range, selectors: fc.array(selector, { maxLength: 3 }) }),
  fc.record({ op: fc.constant('index_stats' as const), range, query: selector }),
  ...discoveryRequests(),
);

function discoveryRequests(): readonly fc.Arbitrary<ApiRequest>[] {
  const logs = texts.map((text) => new Query(text, 'reject'));
  const volume = {
    range,
    query: selector,
    limit: fc.nat(2),
    targetLabels: fc.array(texts, { maxLength: 2 }),
    aggregateBy: fc.constantFrom('series' as const, 'labels' as const),
  };
  const scan = { range, query: logs, limit: fc.nat(2), lineLimit: fc.nat(2) };
  return [
    fc.record({ op: fc.constant('volume' as const), ...volume }),
    fc.record({ op: fc.constant('volume_range' as const), ...volume, stepNs: fc.bigInt(1n, 2n) }),
    fc.record({
      op: fc.constant('index_shards' as const),
      range,
      query: logs,
      targetBytesPerShard: fc.nat(2),
    }),
    fc.record(
      { op: fc.constant('detected_labels' as const), range, query: selector },
      { requiredKeys: ['op', 'range'] },
    ),
    fc.record({ op: fc.constant('detected_fields' as const), ...scan }),
    fc.record({ op: fc.constant('detected_field_values' as const), ...scan, name: texts }),
    fc.record({
      op: fc.constant('patterns' as const),
      range,
      query: selector,
      stepNs: fc.bigInt(1n, 2n),
      limit: fc.nat(2),
      search: fc.record({
        maxRows: fc.nat(2),
        secondPassMaxRows: fc.nat(2),
        secondPassMaxWindows: fc.nat(2),
        custom: fc.array(texts, { maxLength: 2 }),
      }),
    }),
  ];
}

const exchanges = fc
  .record({
    request: requests,
    id: texts,
    accountId: fc.nat(2),
    projectId: fc.nat(2),
    streamField: fc.option(texts, { nil: undefined }),
    categorizeLabels: fc.boolean(),
    isDrilldown: fc.boolean(),
    authorization: fc.option(texts, { nil: undefined }),
  })
  .map(
    ({ request, id, accountId, projectId, streamField, categorizeLabels, isDrilldown, authorization }) => ({
      exchange: makeExchange<'tenant'>({
        request,
        caller: {
          categorizeLabels,
          isDrilldown,
          headers: new Map(authorization === undefined ? [] : [['authorization', authorization]]),
        },
        slots: { tenant: makeTenant(id, { accountId, projectId, streamField }) },
      }),
      facts: JSON.stringify([
        factsOf(request),
        id,
        accountId,
        projectId,
        streamField ?? null,
        categorizeLabels,
        isDrilldown,
        authorization ?? null,
      ]),
    }),
  );

/** Everything that must tell two requests apart, written in another way than keys are. */
function factsOf(request: ApiRequest): unknown {
  if (request.op === 'series') {
    return { ...plain(request), selectors: [...new Set(request.selectors.map(({ text }) => text))].sort() };
  }
  return { ...plain(request), query: request.op === 'tenant' ? null : (request.query?.text ?? null) };
}
function plain(request: ApiRequest): object {
  const shown = Object.entries(request).filter(([name]) => name !== 'query' && name !== 'selectors');
  return JSON.parse(JSON.stringify(Object.fromEntries(byName(shown)), sortedAndPrinted)) as object;
}
function byName(entries: [string, unknown][]): [string, unknown][] {
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}
function sortedAndPrinted(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(byName(Object.entries(value)));
}

const fingerprint = createFingerprint({ forwardAuthorization: true, forwardHeaders: [], forwardCookies: [] });
const keyOf = (exchange: Exchange<'tenant'>): string => cacheKey(exchange, fingerprint(exchange.caller));

test('requests share a key exactly when tenant, place of the data, credentials, mode and parameters are the same', (t) => {
  fc.assert(
    fc.property(fc.array(exchanges, { minLength: 2, maxLength: 30 }), (all) => {
      const keys = new Set(all.map(({ exchange }) => keyOf(exchange)));
      const facts = new Set(all.map((each) => each.facts));
      t.is(keys.size, facts.size);
    }),
    { numRuns: 500 },
  );
});

test('the same question asked twice has one key, whatever the order of its selectors', (t) => {
  const ask = (selectors: readonly string[]): string =>
    keyOf(
      makeExchange<'tenant'>({
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

test('no two texts are escaped to the same, and what is escaped cannot be taken for a separator', (t) => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      t.is(escapeText(a) === escapeText(b), a === b);
      t.regex(escapeText(a), /^[A-Za-z0-9_%-]*$/);
    }),
    { numRuns: 2000 },
  );
});

const request = makeLogRequest();
const different: readonly [name: string, a: Exchange<'tenant'>, b: Exchange<'tenant'>][] = [
  [
    'two tenants',
    makeExchange({ request, slots: { tenant: makeTenant('a') } }),
    makeExchange({ request, slots: { tenant: makeTenant('b') } }),
  ],
  [
    'one tenant before and after its mapping changed',
    makeExchange({ request, slots: { tenant: makeTenant('a', { accountId: 1 }) } }),
    makeExchange({ request, slots: { tenant: makeTenant('a', { accountId: 2 }) } }),
  ],
  [
    'an account and a stream field of the same tenant id',
    makeExchange({ request, slots: { tenant: makeTenant('a') } }),
    makeExchange({ request, slots: { tenant: makeTenant('a', { streamField: 'team' }) } }),
  ],
  [
    'two clients with different forwarded credentials',
    makeExchange({
      request,
      slots: { tenant: makeTenant('a') },
      caller: { headers: new Map([['authorization', 'Bearer 1']]) },
    }),
    makeExchange({
      request,
      slots: { tenant: makeTenant('a') },
      caller: { headers: new Map([['authorization', 'Bearer 2']]) },
    }),
  ],
  [
    'two tuple modes',
    makeExchange({ request, slots: { tenant: makeTenant('a') } }),
    makeExchange({ request, slots: { tenant: makeTenant('a') }, caller: { categorizeLabels: true } }),
  ],
  [
    'a tenant id that looks like another key',
    makeExchange({ request, slots: { tenant: makeTenant('a:0.0') } }),
    makeExchange({ request, slots: { tenant: makeTenant('a') } }),
  ],
];
for (const [name, a, b] of different) {
  test(`${name} never share a key`, (t) => {
    t.not(keyOf(a), keyOf(b));
  });
}

test('a deletion is neither kept nor shared, a query is', (t) => {
  const query = new Query('{a="b"}', 'reject');
  t.true(isNeverKept({ op: 'delete', query, range: { startNs: 0n, endNs: 1n } }));
  t.true(isNeverKept({ op: 'format_query', query }));
  t.false(isNeverKept(makeLogRequest('{a="b"}')));
});
