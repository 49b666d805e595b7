import test from 'ava';
import { request } from 'undici';
import type { Answer } from '../../../core/wire/answer/types.js';
import { RestMisuse } from '../../../core/kernel/chain.js';
import { everything } from '../../../core/victoria/logsql/build.js';
import { defineStage } from '../../../core/plugin/index.js';
import {
  FakeClock,
  FakeUpstream,
  makeExchange,
  makeHost,
  makeLogRequest,
  matching,
  runStage,
  withProxy,
} from '../../../core/testing/index.js';
import type { ListingRequest } from '../../../core/victoria/upstream/types.js';

const empty: Answer = { kind: 'names', values: [], warnings: [] };
const metrics = { runs_total: { type: 'counter', help: 'Runs.' } } as const;

const twice = defineStage<{ readonly times: number }, never, never, typeof metrics>({
  name: 'twice',
  summary: 'Runs the rest some times.',
  needs: [],
  gives: [],
  rest: 'maybe',
  metrics,
  create: (options, host) => ({
    handle: async (exchange, rest) => {
      let answer: Answer = empty;
      for (let index = 0; index < options.times; index += 1) {
        answer = await rest(exchange.derive({ isFinal: false }));
        host.meters.runs_total.add(1, {});
      }
      host.log.info('ran', { times: options.times });
      return answer;
    },
  }),
});

test('runStage gives the answer and the exchanges that went on', async (t) => {
  const host = makeHost({ metrics });
  const { answer, seen } = await runStage(
    twice,
    { times: 1 },
    makeExchange(),
    () => Promise.resolve(empty),
    host,
  );
  t.is(answer, empty);
  t.deepEqual(
    seen.map((exchange) => exchange.isFinal),
    [false],
  );
  t.is(await host.metric('runs_total'), 1);
  t.deepEqual(host.records, [{ level: 'info', body: 'ran', fields: { times: 1 } }]);
});

test('runStage holds a stage to its declared use of the rest', async (t) => {
  await t.throwsAsync(
    runStage(twice, { times: 2 }, makeExchange(), () => Promise.resolve(empty)),
    { instanceOf: RestMisuse },
  );
});

test('runStage fails when the rest runs and the test expects none', async (t) => {
  const error = await t.throwsAsync(runStage(twice, { times: 1 }, makeExchange()));
  t.regex(error.message, /which this test does not expect/);
});

const listing: ListingRequest = {
  listing: 'streams',
  query: { filter: everything, pipes: [] },
  range: { startNs: 0n, endNs: 1n },
};

test('a fake upstream answers what is expected and fails on anything else', async (t) => {
  const upstream = new FakeUpstream([
    {
      call: 'list',
      when: matching<ListingRequest>({ listing: 'streams' }),
      values: [{ value: '{a="b"}', hits: 1 }],
    },
    { call: 'rows', batches: [[{ _msg: '1' }], [{ _msg: '2' }]] },
  ]);
  t.deepEqual(await upstream.list(listing), [{ value: '{a="b"}', hits: 1 }]);
  const error = await t.throwsAsync(upstream.list(listing));
  t.regex(error.message, /^unexpected backend call list: \{"listing":"streams"/);
  t.throws(() => upstream.done(), { message: '1 expected backend calls have not come: rows' });
  const batches = [];
  for await (const batch of upstream.rows({ query: listing.query, range: listing.range }))
    batches.push(batch);
  t.is(batches.length, 2);
  t.notThrows(() => upstream.done());
  t.is(upstream.requests.length, 3);
});

test('a fake upstream can fail as the backend does', async (t) => {
  const upstream = new FakeUpstream([{ call: 'stats', error: new Error('no connection') }]);
  await t.throwsAsync(upstream.stats({ query: listing.query, range: listing.range }), {
    message: 'no connection',
  });
});

test('a fake clock moves only when told', (t) => {
  const clock = new FakeClock(1_000_000_000n);
  clock.advance(1.5);
  t.is(clock.nowNs(), 1_001_500_000n);
  t.is(clock.nowMs(), 1001);
  t.is(clock.monotonicMs(), 1.5);
});

test('a made-up exchange carries the slots that it is given', (t) => {
  const upstream = new FakeUpstream([]);
  const exchange = makeExchange<'upstream'>({ request: makeLogRequest('{x="y"}'), slots: { upstream } });
  t.is(exchange.slots.upstream, upstream);
  t.is(exchange.request.op === 'query_range' ? exchange.request.query.text : '', '{x="y"}');
});

const minimal = `version: 1
stages:
  - use: tenancy
  - use: translate
  - use: backend
    with:
      url: http://127.0.0.1:9
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
`;

test('withProxy starts the text of a pipeline file on a free port', async (t) => {
  await withProxy(minimal, async ({ url }) => {
    const { statusCode, body } = await request(`${url}/alive`);
    t.is(statusCode, 200);
    t.is(await body.text(), 'alive');
  });
});

test('withProxy tells what is wrong with a pipeline file', async (t) => {
  const error = await t.throwsAsync(
    withProxy(minimal.replace('use: backend', 'use: bakend'), () => Promise.resolve()),
  );
  t.regex(error.message, /pipeline\.yaml:5:\d+: unknown plugin "bakend"/);
});
