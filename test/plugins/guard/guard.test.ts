import test from 'ava';
import {
  type ApiRequest,
  type Operation,
  Query,
  type QueryRangeRequest,
} from '../../../core/wire/api/request.js';
import type { GuardOptions } from '../../../core/base/options.gen.js';
import type { Exchange } from '../../../core/kernel/plugin/exchange.js';
import type { Answer, Stage } from '../../../core/plugin/index.js';
import { makeExchange, makeLogAnswer, makeTenant, runStage } from '../../../core/testing/index.js';
import { operations } from '../../../core/operations/index.js';
import { requestOf } from '../../core/cache/samples.js';
import { hostFor } from '../host-for.js';
import guard from '../../../plugins/guard/index.js';

const open: GuardOptions = {
  rateLimitPerSecond: 0,
  rateLimitBurst: 1,
  rateLimitBy: 'address',
  maxConcurrent: 0,
  maxConcurrentQueueWait: 1,
};
const answer = makeLogAnswer({ app: 'a' }, ['line']);
const answering = (): Promise<Answer> => Promise.resolve(answer);
const hourNs = 3_600_000_000_000n;

const rangeRequest = (change: Partial<QueryRangeRequest> = {}): QueryRangeRequest => ({
  op: 'query_range',
  query: new Query('{app="a"}', 'reject'),
  range: { startNs: 0n, endNs: hourNs },
  stepNs: 60_000_000_000n,
  limit: 100,
  direction: 'backward',
  intervalNs: 0n,
  ...change,
});
const exchangeOf = (
  request: ApiRequest = rangeRequest(),
  address = '10.0.0.1',
  tenantId = 'a',
): Exchange<'tenant'> =>
  makeExchange({ request, caller: { address }, slots: { tenant: makeTenant(tenantId) } });
type GuardHost = ReturnType<typeof hostWith>;
const hostWith = (limits: Readonly<Record<string, unknown>> = {}) => hostFor(guard, { limits });

function stageOf(options: Partial<GuardOptions>, host: GuardHost = hostWith()): Stage<'tenant', 'permit'> {
  return guard.create({ ...open, ...options }, host);
}

test('what is allowed goes on untouched', async (t) => {
  const exchange = exchangeOf();
  const run = await runStage(guard, open, exchange, answering);
  t.is(run.answer, answer);
  t.is(run.seen[0]?.request, exchange.request);
});

test('a client over its rate gets 429 with the headers of the rate limit', async (t) => {
  const host = hostWith();
  const stage = stageOf({ rateLimitPerSecond: 50, rateLimitBurst: 1 }, host);
  await stage.handle(exchangeOf(), answering);
  const error = await t.throwsAsync(stage.handle(exchangeOf(), answering), {
    message: 'rate limit exceeded',
  });
  t.like(error, {
    status: 429,
    headers: { 'Retry-After': '1', 'X-RateLimit-Limit': '50', 'X-RateLimit-Remaining': '0' },
  });
  t.is(await stage.handle(exchangeOf(rangeRequest(), '10.0.0.2'), answering), answer);
  host.clock.advance(1000);
  t.is(await stage.handle(exchangeOf(), answering), answer);
  t.is(await host.metric('guard_rejected_total', { reason: 'rate' }), 1);
});

test('the parts of one request take one token together', async (t) => {
  const stage = stageOf({ rateLimitPerSecond: 1, rateLimitBurst: 1 });
  const whole = exchangeOf();
  const parts = ['a', 'b', 'c'].map((id) =>
    whole.derive<'tenant'>({ slots: { tenant: makeTenant(id) }, isFinal: false }),
  );
  t.is((await Promise.all(parts.map((part) => stage.handle(part, answering)))).length, 3);
  await t.throwsAsync(stage.handle(exchangeOf(), answering), { message: 'rate limit exceeded' });
});

test('more requests in flight than the cap get 503 with Retry-After, and a finished one makes room', async (t) => {
  const stage = stageOf({ maxConcurrent: 1 });
  let finish: (value: Answer) => void = () => undefined;
  const first = stage.handle(exchangeOf(), () => new Promise((resolve) => (finish = resolve)));
  const error = await t.throwsAsync(stage.handle(exchangeOf(), answering), {
    message: 'too many concurrent queries',
  });
  t.like(error, { status: 503, headers: { 'Retry-After': '5' } });
  finish(answer);
  await first;
  t.is(await stage.handle(exchangeOf(), answering), answer);
});

test('a request that fails gives its permit back', async (t) => {
  const stage = stageOf({ maxConcurrent: 1 });
  await t.throwsAsync(
    stage.handle(exchangeOf(), () => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
  t.is(await stage.handle(exchangeOf(), answering), answer);
});

test('a refused request gives its permit back', async (t) => {
  const stage = stageOf({ maxConcurrent: 1 }, hostWith({ maxQueryLengthBytes: 3 }));
  await t.throwsAsync(stage.handle(exchangeOf(), answering), { message: /query exceeds max length/ });
  await t.throwsAsync(stage.handle(exchangeOf(), answering), { message: /query exceeds max length/ });
});

test('the parts of one request hold one permit together', async (t) => {
  const stage = stageOf({ maxConcurrent: 1 });
  const whole = exchangeOf();
  const finish: (() => void)[] = [];
  const parts = ['a', 'b'].map((id) =>
    stage.handle(
      whole.derive<'tenant'>({ slots: { tenant: makeTenant(id) } }),
      () => new Promise((resolve) => finish.push(() => resolve(answer))),
    ),
  );
  await t.throwsAsync(stage.handle(exchangeOf(), answering), { message: 'too many concurrent queries' });
  finish.forEach((end) => end());
  await Promise.all(parts);
  t.is(await stage.handle(exchangeOf(), answering), answer);
});

const range = { startNs: 0n, endNs: 4n * hourNs };
const tooLong = 'the query time range exceeds the limit (query length: 4h0m0s, limit: 2h)';
const unbounded: readonly Operation[] = [
  'query',
  'patterns',
  'format_query',
  'tail',
  'delete',
  'deletions',
  'tenant',
];
for (const op of Object.keys(operations) as readonly Operation[]) {
  const isBounded = !unbounded.includes(op);
  test(`${op} over a longer range than max_query_length is ${isBounded ? "refused in Loki's words" : 'let through'}`, async (t) => {
    const request = requestOf(op, { range, stepNs: 60_000_000_000n });
    const limits = { tenantLimits: { a: { max_query_length: '2h' } } };
    const asked = stageOf({}, hostWith(limits)).handle(exchangeOf(request), answering);
    if (isBounded)
      t.like(await t.throwsAsync(asked), { message: tooLong, status: 400, errorType: 'bad_data' });
    else t.is(await asked, answer);
    t.is(await stageOf({}, hostWith(limits)).handle(exchangeOf(request, '10.0.0.1', 'b'), answering), answer);
  });
}

test('a request over several tenants is held to the strictest of them', async (t) => {
  const stage = stageOf(
    {},
    hostWith({ tenantLimits: { a: { max_query_length: '90d' }, b: { max_query_length: '2h' } } }),
  );
  const part = makeExchange<'tenant'>({
    request: rangeRequest({ range }),
    slots: { tenant: makeTenant('a', { limitIds: ['a', 'b'] }) },
  });
  await t.throwsAsync(stage.handle(part, answering), { message: tooLong });
});

test('a query_range of more than 11000 steps is refused, also with limits off', async (t) => {
  const request = rangeRequest({ range: { startNs: 0n, endNs: 660_060_000_000_000n } });
  await t.throwsAsync(stageOf({}).handle(exchangeOf(request), answering), {
    message:
      'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
  });
  t.is(
    await stageOf({}).handle(
      exchangeOf(rangeRequest({ range: { startNs: 0n, endNs: 660_059_999_999_999n } })),
      answering,
    ),
    answer,
  );
});

test('a query text longer than the limit is refused with both numbers, in bytes', async (t) => {
  const request = rangeRequest({ query: new Query('{a="\u00e9"}', 'reject') });
  await t.throwsAsync(
    stageOf({}, hostWith({ maxQueryLengthBytes: 7 })).handle(exchangeOf(request), answering),
    {
      message: 'query exceeds max length (8 > 7)',
    },
  );
  t.is(
    await stageOf({}, hostWith({ maxQueryLengthBytes: 8 })).handle(exchangeOf(request), answering),
    answer,
  );
  t.is(
    await stageOf({}, hostWith({ maxQueryLengthBytes: 0 })).handle(exchangeOf(request), answering),
    answer,
  );
});

test('a log query may not ask for more entries than the tenant’s limit', async (t) => {
  await t.throwsAsync(stageOf({}).handle(exchangeOf(rangeRequest({ limit: 5001 })), answering), {
    message: 'max entries limit per query exceeded, limit > max_entries_limit_per_query (5001 > 5000)',
  });
  const off = hostWith({ maxEntriesLimitPerQuery: 0 });
  t.is(await stageOf({}, off).handle(exchangeOf(rangeRequest({ limit: 5001 })), answering), answer);
});

test('a window longer than max_query_range is refused in queries of both kinds', async (t) => {
  const host = hostWith({ tenantLimits: { a: { max_query_range: '30m' } } });
  for (const op of ['query', 'query_range'] as const) {
    const over = (window: string): ApiRequest =>
      requestOf(op, { query: new Query(`rate({app="a"}[${window}])`, 'reject') });
    await t.throwsAsync(stageOf({}, host).handle(exchangeOf(over('31m')), answering), { message: /30m/ });
    t.is(await stageOf({}, host).handle(exchangeOf(over('30m')), answering), answer);
  }
});

test('fields are not looked for in more lines than the entries that a tenant may ask for', async (t) => {
  for (const op of ['detected_fields', 'detected_field_values'] as const) {
    await t.throwsAsync(stageOf({}).handle(exchangeOf(requestOf(op, { lineLimit: 5001 })), answering), {
      message: 'max entries limit per query exceeded, limit > max_entries_limit_per_query (5001 > 5000)',
    });
    t.is(await stageOf({}).handle(exchangeOf(requestOf(op, { lineLimit: 5000 })), answering), answer);
  }
});

test('the entries limit does not concern metric queries', async (t) => {
  const request = rangeRequest({ limit: 5001, query: new Query('rate({app="a"}[5m])', 'reject') });
  t.is(await stageOf({}).handle(exchangeOf(request), answering), answer);
});

test('a long query whose windows are looked at gives others their turn', async (t) => {
  const query = new Query(`count_over_time({app="a"} ${'| json '.repeat(5_000)} [1h])`, 'reject');
  const stage = stageOf(
    {},
    hostWith({ tenantLimits: { a: { max_query_range: '30m' } }, maxQueryLengthBytes: 0 }),
  );
  let turns = 0;
  const count = (): void => {
    turns += 1;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  try {
    await t.throwsAsync(stage.handle(exchangeOf(rangeRequest({ query })), answering), { message: /30m/ });
  } finally {
    clearImmediate(turn);
  }
  t.true(turns > 1);
});

test('who leaves while a query is looked at is not counted among the refused', async (t) => {
  const host = hostWith({ tenantLimits: { a: { max_query_range: '30m' } }, maxQueryLengthBytes: 0 });
  const gone = new AbortController();
  const query = new Query(`count_over_time({app="a"} ${'| json '.repeat(5_000)} [1h])`, 'reject');
  const exchange = makeExchange<'tenant'>({
    request: rangeRequest({ query }),
    signal: gone.signal,
    slots: { tenant: makeTenant('a') },
  });
  setImmediate(() => gone.abort(new Error('gone')));
  await t.throwsAsync(stageOf({}, host).handle(exchange, answering), { message: 'gone' });
  t.is(await host.metric('guard_rejected_total', { reason: 'limit' }), undefined);
});
