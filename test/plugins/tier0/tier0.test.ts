import test from 'ava';
import type { ApiRequest } from '../../../core/wire/api/request.js';
import { encodeAnswer } from '../../../core/wire/answer/encode.js';
import type { Answer, EncodedAnswer } from '../../../core/wire/answer/types.js';
import type { Tier0Options } from '../../../core/base/options.gen.js';
import type { Exchange } from '../../../core/kernel/plugin/exchange.js';
import type { Stage } from '../../../core/plugin/index.js';
import {
  makeExchange,
  makeLogAnswer,
  makeLogRequest,
  makeTenant,
  optionsOf,
  type ExchangeSettings,
} from '../../../core/testing/index.js';
import tier0 from '../../../plugins/tier0/index.js';
import { keptOperations } from '../../core/cache/exchanges.js';
import { requestOf } from '../../core/cache/samples.js';
import { hostFor } from '../host-for.js';

type Tier0Host = ReturnType<typeof makeTier0Host>;
const makeTier0Host = () => hostFor(tier0);
const hourMs = 3_600_000;

/** A stage over a fake chain that counts its requests; the clock is long after the end of the requested ranges. */
function make(
  values: Readonly<Record<string, unknown>> = {},
  answer: Answer = makeLogAnswer({ app: 'a' }, ['line']),
) {
  const host: Tier0Host = makeTier0Host();
  host.clock.advance(10 * hourMs);
  // optionsOf applies the schema, which the type is generated from.
  const options = optionsOf('tier0', values) as unknown as Tier0Options;
  const stage: Stage<'tenant', never> = tier0.create(options, host);
  let asked = 0;
  const ask = (exchange: Exchange<'tenant'>): Promise<Answer> =>
    stage.handle(exchange, () => {
      asked += 1;
      return Promise.resolve(answer);
    });
  return { host, stage, ask, answer, asked: () => asked };
}
const exchangeOf = (settings: Partial<ExchangeSettings<'tenant'>> = {}): Exchange<'tenant'> =>
  makeExchange<'tenant'>({ slots: { tenant: makeTenant('a') }, ...settings });

test('a repeated request is answered with the same bytes and without the chain below', async (t) => {
  const { ask, asked, answer, host } = make();
  const first = await ask(exchangeOf());
  const again = exchangeOf();
  t.is(await ask(again), first);
  t.is(asked(), 1);
  const expected = encodeAnswer(answer, { categorizeLabels: false, request: makeLogRequest() });
  t.deepEqual((first as EncodedAnswer).body, expected.body);
  t.is(again.trace.cacheResult, 'hit');
  t.is(await host.metric('compat_cache_hits_total'), 1);
  t.is(await host.metric('compat_cache_misses_total'), 1);
});

test('the age of each answer that is served again is counted, from when it was made', async (t) => {
  const { ask, host } = make({ queryTtl: '10m' });
  await ask(exchangeOf());
  t.is(await host.metric('compat_cache_age_seconds'), 0);
  for (const wait of [7_000, 60_000]) {
    host.clock.advance(wait);
    await ask(exchangeOf());
  }
  const { text } = await host.exposeMetrics();
  const shown = (name: string): string | undefined =>
    text.split('\n').find((line) => line.startsWith(`ref_proxy_compat_cache_age_seconds_${name} `));
  t.is(shown('sum'), 'ref_proxy_compat_cache_age_seconds_sum 74');
  t.is(shown('count'), 'ref_proxy_compat_cache_age_seconds_count 2');
  t.true(text.includes('ref_proxy_compat_cache_age_seconds_bucket{le="10"} 1'));
  t.true(text.includes('ref_proxy_compat_cache_age_seconds_bucket{le="300"} 2'));
});

test('bytes that are kept hold on to no memory but their own', async (t) => {
  const { ask } = make();
  const { body } = (await ask(exchangeOf())) as EncodedAnswer;
  t.is(body.buffer.byteLength, body.byteLength);
});

const unsafe: readonly [name: string, settings: Partial<ExchangeSettings<'tenant'>>][] = [
  ['a POST', { caller: { method: 'POST' } }],
  ['a HEAD', { caller: { method: 'HEAD' } }],
  ['a part of an answer that is merged', { isFinal: false }],
];
for (const [name, settings] of unsafe) {
  test(`${name} is neither looked up nor kept`, async (t) => {
    const { ask, asked, answer } = make();
    t.is(await ask(exchangeOf(settings)), answer);
    await ask(exchangeOf(settings));
    t.is(asked(), 2);
    await ask(exchangeOf());
    t.is(asked(), 3);
  });
}

test('an answer with a warning is left as it is and not kept', async (t) => {
  const partial = { ...makeLogAnswer({ app: 'a' }, ['line']), warnings: ['partial'] };
  const { ask, asked } = make({}, partial);
  t.is(await ask(exchangeOf()), partial);
  await ask(exchangeOf());
  t.is(asked(), 2);
});

test('bytes made by a stage below are passed on and not kept', async (t) => {
  const foreign: Answer = {
    kind: 'encoded',
    status: 200,
    contentType: 'application/json',
    headers: new Map(),
    body: Buffer.from('{}'),
  };
  const { ask, asked } = make({}, foreign);
  t.is(await ask(exchangeOf()), foreign);
  await ask(exchangeOf());
  t.is(asked(), 2);
});

test('an error is not kept', async (t) => {
  const { stage, ask, asked } = make();
  await t.throwsAsync(
    stage.handle(exchangeOf(), () => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
  await ask(exchangeOf());
  t.is(asked(), 1);
});

const separated: readonly [name: string, settings: Partial<ExchangeSettings<'tenant'>>][] = [
  ['another tenant', { slots: { tenant: makeTenant('b') } }],
  ['a client that takes 3-tuples', { caller: { categorizeLabels: true } }],
  [
    'a client with other forwarded credentials',
    { caller: { headers: new Map([['authorization', 'Bearer 2']]) } },
  ],
  ['another query', { request: makeLogRequest('{app="b"}') }],
];
for (const [name, settings] of separated) {
  test(`${name} gets its own answer`, async (t) => {
    const { ask, asked } = make({ forwardAuthorization: true });
    await ask(exchangeOf());
    await ask(exchangeOf(settings));
    t.is(asked(), 2);
  });
}

test('an answer is asked for again when its time is over', async (t) => {
  const { ask, asked, host } = make({ queryTtl: '1m' });
  await ask(exchangeOf());
  host.clock.advance(59_999);
  await ask(exchangeOf());
  t.is(asked(), 1);
  host.clock.advance(1);
  await ask(exchangeOf());
  t.is(asked(), 2);
});

test('a list of no labels is kept for as long as the disk cache asks', async (t) => {
  const none: Answer = { kind: 'names', values: [], warnings: [] };
  const { ask, asked, host } = make({ diskCacheMinTtl: '2m' }, none);
  host.clock.advance(24 * hourMs);
  const request = requestOf('labels');
  await ask(exchangeOf({ request }));
  host.clock.advance(119_999);
  await ask(exchangeOf({ request }));
  t.is(asked(), 1);
  host.clock.advance(1);
  await ask(exchangeOf({ request }));
  t.is(asked(), 2);
});

test('an answer that reaches near to now is asked for again after the allowed staleness', async (t) => {
  const { ask, asked, host } = make();
  const endNs = host.clock.nowNs();
  const request = { ...makeLogRequest(), range: { startNs: endNs - 1n, endNs } } as ApiRequest;
  await ask(exchangeOf({ request }));
  host.clock.advance(1_999);
  await ask(exchangeOf({ request }));
  t.is(asked(), 1);
  host.clock.advance(1);
  await ask(exchangeOf({ request }));
  t.is(asked(), 2);
});

const off: readonly [name: string, values: Readonly<Record<string, unknown>>][] = [
  ['disabled', { enabled: false }],
  ['without a share of the budget', { maxPercent: 0 }],
  ['without a budget', { cacheMaxBytes: 0 }],
  ['under answers in chunks', { streamResponse: true }],
];
for (const [name, values] of off) {
  test(`${name}, it passes log queries through`, async (t) => {
    const { ask, asked, answer } = make(values);
    await ask(exchangeOf());
    t.is(await ask(exchangeOf()), answer);
    t.is(asked(), 2);
  });
}

test('under answers in chunks, what is not a query is kept', async (t) => {
  const { ask, asked } = make({ streamResponse: true });
  for (const op of keptOperations) {
    const before = asked();
    await ask(exchangeOf({ request: requestOf(op) }));
    await ask(exchangeOf({ request: requestOf(op) }));
    t.is(asked() - before, ['query', 'query_range'].includes(op) ? 2 : 1, op);
  }
});

test('the bytes that are kept stay within the share of the budget', async (t) => {
  const large = makeLogAnswer({ app: 'a' }, ['x'.repeat(300)]);
  const { ask, host } = make({ cacheMaxBytes: 1_000_000, maxPercent: 10 }, large);
  for (let index = 0; index < 100; index += 1)
    await ask(exchangeOf({ request: makeLogRequest(`{app="${index}"}`) }));
  const bytes = await host.metric('compat_cache_bytes');
  t.true(bytes !== undefined && bytes > 50_000 && bytes <= 100_000, `${bytes} bytes`);
  t.true(Number(await host.metric('compat_cache_drops_total', { reason: 'evicted' })) > 0);
});

test('an answer too large to be kept is left for the edge to encode', async (t) => {
  const huge = makeLogAnswer({ app: 'a' }, ['x'.repeat(50_000)]);
  const { ask } = make({ cacheMaxBytes: 100_000, maxPercent: 10 }, huge);
  t.is(await ask(exchangeOf()), huge);
});

test('a purge empties the cache, and an answer asked for before it is not kept after it', async (t) => {
  const { ask, asked, stage, answer } = make();
  await ask(exchangeOf());
  await stage.purge?.('answers');
  await ask(exchangeOf());
  t.is(asked(), 2);
  let finish: (value: Answer) => void = () => undefined;
  const request = makeLogRequest('{app="slow"}');
  const slow = stage.handle(exchangeOf({ request }), () => new Promise((resolve) => (finish = resolve)));
  await stage.purge?.('answers');
  finish(answer);
  await slow;
  await ask(exchangeOf({ request }));
  t.is(asked(), 3);
});
