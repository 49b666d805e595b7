import test from 'ava';
import { Query } from '../../../core/wire/api/request.js';
import type { Answer } from '../../../core/wire/answer/types.js';
import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import type { Exchange } from '../../../core/kernel/plugin/exchange.js';
import type { Rest, Stage } from '../../../core/plugin/index.js';
import {
  makeExchange,
  makeLogAnswer,
  makeLogRequest,
  makeTenant,
  optionsOf,
  type ExchangeSettings,
} from '../../../core/testing/index.js';
import peerCache from '../../../plugins/peer-cache/index.js';
import { differInOne, keptOperations } from '../../core/cache/exchanges.js';
import { forwarding } from '../../core/cache/samples.js';
import { hostFor } from '../host-for.js';

const answer = makeLogAnswer({ app: 'a' }, ['line']);
const exchangeOf = (settings: Partial<ExchangeSettings<'tenant'>> = {}): Exchange<'tenant'> =>
  makeExchange<'tenant'>({ slots: { tenant: makeTenant('a') }, ...settings });

function make(values: Readonly<Record<string, unknown>> = {}) {
  const host = hostFor(peerCache);
  host.clock.advance(10 * 3_600_000);
  // optionsOf applies the schema, which the type is generated from.
  const options = optionsOf('peer-cache', values) as unknown as PeerCacheOptions;
  const stage: Stage<'tenant', never> = peerCache.create(options, host);
  return { host, stage };
}

/** A fake rest of the chain whose requests a test finishes manually. */
function makeRest() {
  const seen: Exchange[] = [];
  const finish: (() => void)[] = [];
  const fail: ((error: Error) => void)[] = [];
  const rest: Rest = (exchange) => {
    seen.push(exchange);
    return new Promise((resolve, reject) => {
      finish.push(() => resolve(answer));
      fail.push(reject);
    });
  };
  return { rest, seen, finish, fail };
}
/** Runs all callbacks that wait only for promises. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const counted = (): { rest: Rest; asked: () => number } => {
  let asked = 0;
  return { rest: () => Promise.resolve(((asked += 1), answer)), asked: () => asked };
};

test('an answer is kept, packed, and comes out equal and in objects of its own', async (t) => {
  const { stage, host } = make();
  const { rest, asked } = counted();
  const first = await stage.handle(exchangeOf(), rest);
  const again = exchangeOf();
  const stored = await stage.handle(again, rest);
  t.not(stored, first);
  t.deepEqual(stored, first);
  t.is(asked(), 1);
  t.is(again.trace.cacheResult, 'hit');
  t.is(await host.metric('memory_cache_hits_total'), 1);
});

test('parts of a merged answer are kept too', async (t) => {
  const { stage } = make();
  const { rest, asked } = counted();
  await stage.handle(exchangeOf({ isFinal: false }), rest);
  await stage.handle(exchangeOf({ isFinal: false }), rest);
  t.is(asked(), 1);
});

const separated: readonly [name: string, settings: Partial<ExchangeSettings<'tenant'>>][] = [
  ['another tenant', { slots: { tenant: makeTenant('b') } }],
  ['a tenant whose mapping changed', { slots: { tenant: makeTenant('a', { accountId: 7 }) } }],
  ['a client with other forwarded credentials', { caller: { headers: new Map([['cookie', 'session=2']]) } }],
];
for (const [name, settings] of separated) {
  test(`${name} neither shares a call in flight nor a kept answer`, async (t) => {
    const { stage } = make({ forwardCookies: ['session'] });
    const { rest, seen, finish } = makeRest();
    const calls = [stage.handle(exchangeOf(), rest), stage.handle(exchangeOf(settings), rest)];
    await settle();
    t.is(seen.length, 2);
    finish.forEach((end) => end());
    await Promise.all(calls);
    const own = counted();
    await stage.handle(exchangeOf(settings), own.rest);
    t.is(own.asked(), 0);
  });
}

test('calls that differ in one field share no call in flight, unless keys leave the field out', async (t) => {
  for (const { field, isLeftOut, exchanges } of keptOperations.flatMap(differInOne)) {
    const { stage } = make({ ...forwarding, cacheDisabled: true });
    const { rest, seen, finish } = makeRest();
    const calls = exchanges.map((exchange) => stage.handle(exchange, rest));
    await settle();
    t.is(seen.length, isLeftOut ? 1 : exchanges.length, field);
    finish.forEach((end) => end());
    await Promise.all(calls);
  }
});

test('identical calls in flight share one', async (t) => {
  const { stage, host } = make();
  const { rest, seen, finish } = makeRest();
  const calls = [1, 2, 3].map(() => stage.handle(exchangeOf(), rest));
  await settle();
  t.is(seen.length, 1);
  finish.forEach((end) => end());
  t.deepEqual(await Promise.all(calls), [answer, answer, answer]);
  t.is(await host.metric('coalesced_total'), 2);
  t.is(await host.metric('coalesced_saved_total'), 2);
});

test('the client that asked first may go away without disturbing those that joined', async (t) => {
  const { stage } = make();
  const { rest, seen, finish } = makeRest();
  const leaver = new AbortController();
  const left = stage.handle(exchangeOf({ signal: leaver.signal }), rest);
  const stayed = stage.handle(exchangeOf(), rest);
  await settle();
  const thrown = t.throwsAsync(left, { message: 'gone' });
  leaver.abort(new Error('gone'));
  await thrown;
  t.false(seen[0]?.signal.aborted);
  finish.forEach((end) => end());
  t.is(await stayed, answer);
});

test('when every client has gone, the run below is aborted', async (t) => {
  const { stage } = make();
  const { rest, seen } = makeRest();
  const leaver = new AbortController();
  const left = stage.handle(exchangeOf({ signal: leaver.signal }), rest);
  await settle();
  const thrown = t.throwsAsync(left, { message: 'gone' });
  leaver.abort(new Error('gone'));
  await thrown;
  t.true(seen[0]?.signal.aborted);
});

test('the shared run keeps the slots of the exchange', async (t) => {
  const { stage } = make();
  const seen: Exchange[] = [];
  const exchange = exchangeOf();
  await stage.handle(exchange, (derived) => {
    seen.push(derived);
    return Promise.resolve(answer);
  });
  t.is(seen[0]?.slots.tenant, exchange.slots.tenant);
  t.is(seen[0]?.trace, exchange.trace);
});

test('an error reaches all that wait and is not kept', async (t) => {
  const { stage } = make();
  const { rest, fail } = makeRest();
  const calls = [1, 2].map(() => stage.handle(exchangeOf(), rest));
  await settle();
  const thrown = Promise.all(calls.map((call) => t.throwsAsync(call, { message: 'broken' })));
  fail.forEach((reject) => reject(new Error('broken')));
  await thrown;
  const later = counted();
  t.is(await stage.handle(exchangeOf(), later.rest), answer);
  t.is(later.asked(), 1);
});

test('without a memory cache identical calls are still shared', async (t) => {
  const { stage } = make({ cacheDisabled: true });
  const { rest, seen, finish } = makeRest();
  const calls = [1, 2].map(() => stage.handle(exchangeOf(), rest));
  await settle();
  t.is(seen.length, 1);
  finish.forEach((end) => end());
  await Promise.all(calls);
  const later = counted();
  await stage.handle(exchangeOf(), later.rest);
  t.is(later.asked(), 1);
});

test('without coalescing every call in flight goes on its own', async (t) => {
  const { stage } = make({ coalescerDisabled: true });
  const { rest, seen, finish } = makeRest();
  const exchange = exchangeOf();
  const calls = [stage.handle(exchange, rest), stage.handle(exchangeOf(), rest)];
  await settle();
  t.is(seen.length, 2);
  t.is(seen[0], exchange);
  finish.forEach((end) => end());
  await Promise.all(calls);
});

test('an answer with a warning is not kept', async (t) => {
  const { stage } = make();
  const partial: Answer = { ...answer, warnings: ['partial'] };
  const own = counted();
  t.is(await stage.handle(exchangeOf(), () => Promise.resolve(partial)), partial);
  t.is(await stage.handle(exchangeOf(), own.rest), answer);
  t.is(own.asked(), 1);
});

test('the memory that answers take stays within the budget less the share of tier0', async (t) => {
  const { stage, host } = make({ cacheMaxBytes: 100_000, compatCacheMaxPercent: 50 });
  const large = makeLogAnswer({ app: 'a' }, ['x'.repeat(2_000)]);
  for (let index = 0; index < 100; index += 1) {
    await stage.handle(exchangeOf({ request: makeLogRequest(`{app="${index}"}`) }), () =>
      Promise.resolve(large),
    );
  }
  const bytes = await host.metric('memory_cache_bytes');
  t.true(bytes !== undefined && bytes > 25_000 && bytes <= 50_000, `${bytes} bytes`);
});

test('a purge empties the memory and parts the calls in flight from later ones', async (t) => {
  const { stage } = make();
  const { rest, seen, finish } = makeRest();
  const before = stage.handle(exchangeOf(), rest);
  await settle();
  await stage.purge?.('answers');
  const after = stage.handle(exchangeOf(), rest);
  await settle();
  t.is(seen.length, 2);
  finish[0]?.();
  await before;
  const between = stage.handle(exchangeOf(), rest);
  await settle();
  t.is(seen.length, 2);
  finish[1]?.();
  t.deepEqual(await Promise.all([after, between]), [answer, answer]);
});

test('formatting a query is never looked up', async (t) => {
  const { stage } = make();
  const { rest, asked } = counted();
  const request = { op: 'format_query', query: new Query('{app="a"}', 'reject') } as const;
  await stage.handle(exchangeOf({ request }), rest);
  await stage.handle(exchangeOf({ request }), rest);
  t.is(asked(), 2);
});
