/** The laws for every cache of finished answers: the built-in one, and the example that can replace it. */
import test, { type ExecutionContext } from 'ava';
import { runningDeletions } from '../../../core/cache/keys.js';
import type { Exchange } from '../../../core/kernel/plugin/exchange.js';
import type { MetricSpecs } from '../../../core/base/meters.js';
import type { Stage, StagePlugin } from '../../../core/plugin/index.js';
import {
  makeExchange,
  makeLogAnswer,
  makeLogRequest,
  makeTenant,
  optionsOf,
  type ExchangeSettings,
} from '../../../core/testing/index.js';
import { encodeAnswer } from '../../../core/wire/answer/encode.js';
import type { Answer, EncodedAnswer } from '../../../core/wire/answer/types.js';
import redisTier0 from '../../../examples/redis-tier0/index.js';
import tier0 from '../../../plugins/tier0/index.js';
import { differInOne, keptOperations } from '../../core/cache/exchanges.js';
import { FakeStore } from '../peer-cache/fake-store.js';
import { forwarding } from '../../core/cache/samples.js';
import { hostFor } from '../host-for.js';

type Ask = (exchange: Exchange<'tenant'>, below?: Answer | Promise<Answer>) => Promise<Answer>;

/** A cache of finished answers over a fake chain that counts its requests. */
interface Cache {
  readonly stage: Stage<'tenant', never>;
  readonly host: ReturnType<typeof hostFor>;
  readonly ask: Ask;
  readonly asked: () => number;
}

const answer = makeLogAnswer({ app: 'a' }, ['line']);
const tenHoursMs = 36_000_000;

function cacheOf<Options, Metrics extends MetricSpecs>(
  plugin: StagePlugin<Options, 'tenant', never, Metrics>,
  options: Options,
): Cache {
  const host = hostFor(plugin);
  // Long after the end of the requested ranges.
  host.clock.advance(tenHoursMs);
  const stage = plugin.create(options, host);
  let asked = 0;
  const ask: Ask = (exchange, below = answer) =>
    stage.handle(exchange, () => {
      asked += 1;
      return Promise.resolve(below);
    });
  return { stage, host, ask, asked: () => asked };
}

type Values = Readonly<Record<string, unknown>>;
type Make = (t: ExecutionContext, values?: Values) => Promise<Cache>;

// The options come from the schemas, which the types are generated from.
const caches: readonly (readonly [name: string, operations: typeof keptOperations, make: Make])[] = [
  [
    'tier0',
    keptOperations,
    (_t, values) => Promise.resolve(cacheOf(tier0, optionsOf('tier0', values) as never)),
  ],
  [
    'redis-tier0',
    // Each lookup goes through sockets, and all keys are built in one place.
    ['query', 'series'],
    async (t, values) => {
      const { url } = await FakeStore.start(t);
      const own = { url, prefix: 'test:', timeout: 60_000, maxAnswerBytes: 1_000_000 };
      const cache = cacheOf(redisTier0, { ...optionsOf('tier0', values), ...own } as never);
      await cache.stage.start?.(new AbortController().signal);
      t.teardown(() => cache.stage.stop?.());
      await untilKept(cache);
      return cache;
    },
  ],
];

const exchangeOf = (settings: Partial<ExchangeSettings<'tenant'>> = {}): Exchange<'tenant'> =>
  makeExchange<'tenant'>({ slots: { tenant: makeTenant('a') }, ...settings });

/** Nothing waits for the connection, so the first answers may not be kept. */
async function untilKept(cache: Cache): Promise<void> {
  const request = makeLogRequest('{app="first"}');
  for (let before = -1; before !== cache.asked();) {
    before = cache.asked();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await cache.ask(exchangeOf({ request }));
  }
}

/** Sends a request twice; gives a cache that writes asynchronously time to do so. */
async function askTwice(cache: Cache, exchange: () => Exchange<'tenant'>, below?: Answer): Promise<number> {
  const before = cache.asked();
  await cache.ask(exchange(), below);
  await cache.ask(exchange(), below);
  return cache.asked() - before;
}

for (const [name, operations, make] of caches) {
  test(`${name}: a repeated request gets the bytes of the first without the chain below`, async (t) => {
    const cache = await make(t);
    const before = cache.asked();
    const first = (await cache.ask(exchangeOf())) as EncodedAnswer;
    const again = exchangeOf();
    const second = (await cache.ask(again)) as EncodedAnswer;
    t.is(cache.asked() - before, 1);
    t.is(again.trace.cacheResult, 'hit');
    const expected = encodeAnswer(answer, { categorizeLabels: false, request: makeLogRequest() });
    for (const { status, contentType, headers, body } of [first, second]) {
      t.deepEqual({ status, contentType }, { status: 200, contentType: expected.contentType });
      t.is(headers.size, 0);
      t.true(body.equals(expected.body));
    }
  });

  test(`${name}: whatever an answer depends on makes bytes of its own`, async (t) => {
    const cache = await make(t, forwarding);
    const fields = operations.flatMap(differInOne).filter(({ field }) => field !== 'caller.method');
    for (const { field, isLeftOut, exchanges } of fields) {
      await cache.stage.purge?.('all');
      const before = cache.asked();
      for (const exchange of exchanges) await cache.ask(exchange);
      t.is(cache.asked() - before, isLeftOut ? 1 : exchanges.length, field);
    }
  });

  test(`${name}: what is not safe is neither kept nor given again`, async (t) => {
    const cache = await make(t);
    const unsafe: readonly Partial<ExchangeSettings<'tenant'>>[] = [
      { caller: { method: 'POST' } },
      { isFinal: false },
    ];
    t.is(await askTwice(cache, () => exchangeOf()), 1);
    for (const settings of unsafe) t.is(await askTwice(cache, () => exchangeOf(settings)), 2);
    const request = makeLogRequest('{app="partial"}');
    t.is(await askTwice(cache, () => exchangeOf({ request }), { ...answer, warnings: ['partial'] }), 2);
    const bytes: Answer = {
      kind: 'encoded',
      status: 200,
      contentType: 'application/json',
      headers: new Map(),
      body: Buffer.from('{}'),
    };
    const other = makeLogRequest('{app="bytes"}');
    t.is(await askTwice(cache, () => exchangeOf({ request: other }), bytes), 2);
  });

  test(`${name}: an answer is asked for again when its time is over`, async (t) => {
    const cache = await make(t, { queryTtl: '1m' });
    await cache.ask(exchangeOf());
    cache.host.clock.advance(59_999);
    const before = cache.asked();
    await cache.ask(exchangeOf());
    t.is(cache.asked(), before);
    cache.host.clock.advance(1);
    await cache.ask(exchangeOf());
    t.is(cache.asked(), before + 1);
  });

  test(`${name}: a purge of one tenant, or of all, ends what was asked for before it`, async (t) => {
    const cache = await make(t);
    const ofB = (): Exchange<'tenant'> => exchangeOf({ slots: { tenant: makeTenant('b') } });
    t.is(await askTwice(cache, exchangeOf), 1);
    t.is(await askTwice(cache, ofB), 1);
    await cache.stage.purge?.('answers', 'a');
    let before = cache.asked();
    await cache.ask(ofB());
    t.is(cache.asked(), before, 'another tenant keeps its own');
    t.is(await askTwice(cache, exchangeOf), 1);
    await cache.stage.purge?.('all');
    t.is(await askTwice(cache, ofB), 1);

    const request = makeLogRequest('{app="slow"}');
    let finish: (value: Answer) => void = () => undefined;
    let isAsked: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (isAsked = resolve));
    const slow = cache.stage.handle(exchangeOf({ request }), () => {
      isAsked();
      return new Promise((resolve) => (finish = resolve));
    });
    await reached;
    await cache.stage.purge?.('answers', 'a');
    finish(answer);
    await slow;
    before = cache.asked();
    await cache.ask(exchangeOf({ request }));
    t.is(cache.asked(), before + 1);
  });

  test(`${name}: while a deletion runs nothing of its tenant is kept or given again`, async (t) => {
    const cache = await make(t);
    t.is(await askTwice(cache, exchangeOf), 1);
    const { accountId, projectId } = makeTenant('a');
    const deletion = { begunMs: 0, orgId: 'a', account: { accountId, projectId }, taskId: undefined };
    const running = runningDeletions(cache.host);
    running.set('1', { id: '1', ...deletion });
    t.is(await askTwice(cache, exchangeOf), 2);
    running.delete('1');
    await cache.stage.purge?.('all');
    t.is(await askTwice(cache, exchangeOf), 1);
  });
}
