/** The `mirror` stage: sends requests to a second Loki API and compares the responses. */
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { MirrorOptions } from '../../../core/base/options.gen.js';
import { apiError, type Answer, type Exchange } from '../../../core/plugin/index.js';
import { makeExchange, makeLogRequest, optionsOf, withProxy } from '../../../core/testing/index.js';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import mirror from '../../../plugins/mirror/index.js';
import { lokiOf, matrix, Refusal, type Asked } from '../../core/tools/compare/two-lokis.js';
import { mirroringPipeline } from '../../watch/mirroring.js';
import { hostFor } from '../host-for.js';

const stats = {
  ...{ linesProcessed: 0, bytesProcessed: 0, entriesReturned: 0, postFilterLines: 0 },
  ...{ structuredMetadataBytes: 0, execTimeMs: 0, splits: 1 },
};

/** A scalar, which needs no series. */
function scalar(value: number): Answer {
  return { kind: 'scalar', point: { timestampMs: 60_000, value }, stats, warnings: [] };
}

function mirrored(value: string): unknown {
  return { status: 'success', data: { resultType: 'scalar', result: [60, value], stats: {} } };
}

async function stageTo(
  t: ExecutionContext,
  answer: (asked: Asked, count: number) => unknown,
  values: Readonly<Record<string, unknown>> = {},
) {
  const loki = await lokiOf(t, answer);
  const host = hostFor(mirror);
  // optionsOf applies the schema, which the type is generated from.
  const options = optionsOf('mirror', {
    url: loki.url,
    percent: 100,
    rate: 1000,
    ...values,
  }) as unknown as MirrorOptions;
  const stage = mirror.create(options, host);
  t.teardown(() => stage.stop?.());
  const outcomes = async (): Promise<Readonly<Record<string, number>>> => {
    const counts: Record<string, number> = {};
    for (const outcome of ['equal', 'different', 'failed', 'skipped']) {
      const count = await host.metric('mirror_requests_total', { outcome });
      if (count !== undefined && count > 0) counts[outcome] = count;
    }
    return counts;
  };
  const settled = async (count: number): Promise<Readonly<Record<string, number>>> => {
    for (;;) {
      const counts = await outcomes();
      if (Object.values(counts).reduce((sum, one) => sum + one, 0) >= count) return counts;
      await pause(5);
    }
  };
  const differences = async (): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const handler = stage.routes?.get('admin_mirror');
    const shown = await handler?.({} as Parameters<NonNullable<typeof handler>>[0]);
    return shown?.kind === 'encoded'
      ? (JSON.parse(shown.body.toString()) as { data: Readonly<Record<string, unknown>>[] }).data
      : [];
  };
  return { loki, host, stage, settled, differences };
}

function exchangeOf(query = '1', caller: Parameters<typeof makeExchange>[0] = {}): Exchange {
  return makeExchange({ request: makeLogRequest(query), ...caller });
}

test('an equal answer is counted, and the mirror is asked for the same range and tenant after the client has its answer', async (t) => {
  const { loki, stage, settled, differences } = await stageTo(t, () => mirrored('1'));
  const exchange = exchangeOf('1', { caller: { orgId: 'team-a' } });
  const answer = await stage.handle(exchange, () => {
    t.is(loki.asked.length, 0);
    return Promise.resolve(scalar(1));
  });
  t.is(loki.asked.length, 0, 'the answer does not wait for the mirror');
  t.deepEqual(answer, scalar(1));
  t.deepEqual(await settled(1), { equal: 1 });
  const [asked] = loki.asked;
  t.is(asked?.path, '/loki/api/v1/query_range');
  t.is(asked?.headers['x-scope-orgid'], 'team-a');
  const { request } = exchange;
  if (request.op !== 'query_range') throw new Error('a range query is made');
  t.is(asked?.params.get('start'), String(request.range.startNs));
  t.is(asked?.params.get('end'), String(request.range.endNs));
  t.deepEqual(await differences(), []);
});

test('a different answer is counted by kind and shown, and the oldest differences make room', async (t) => {
  const { host, stage, settled, differences } = await stageTo(
    t,
    (_asked, count) => mirrored(String(count + 1)),
    { keep: 2 },
  );
  for (const query of ['1', '2', '3']) {
    await stage.handle(exchangeOf(query), () => Promise.resolve(scalar(1)));
    await settled(Number(query));
  }
  t.deepEqual(await settled(3), { different: 3 });
  t.is(await host.metric('mirror_differences_total', { kind: 'value', known: 'false' }), 3);
  const shown = await differences();
  t.deepEqual(
    shown.map(({ kind, reference, candidate, request }) => [
      kind,
      reference,
      candidate,
      (request as { params: { query: string } }).params.query,
    ]),
    [
      ['value', '[60,"3"]', '[60,"1"]', '2'],
      ['value', '[60,"4"]', '[60,"1"]', '3'],
    ],
  );
});

test('the admin API tells how many requests had which outcome', async (t) => {
  const { stage, settled } = await stageTo(t, (_asked, count) => mirrored(String(count)), {
    maxConcurrent: 1,
  });
  await stage.handle(exchangeOf('1'), () => Promise.resolve(scalar(1)));
  await stage.handle(exchangeOf('1'), () => Promise.resolve(scalar(1)));
  const counts = await settled(1);
  const handler = stage.routes?.get('admin_mirror');
  const shown = await handler?.({} as Parameters<NonNullable<typeof handler>>[0]);
  const { outcomes } = JSON.parse(shown?.kind === 'encoded' ? shown.body.toString() : '{}') as {
    readonly outcomes: Readonly<Record<string, number>>;
  };
  t.deepEqual(outcomes, { equal: 0, different: 0, failed: 0, skipped: 0, ...counts, not_sent: 1 });
});

test('a refusal is compared by its text, and a failure is not mirrored', async (t) => {
  const { loki, stage, settled } = await stageTo(t, () => new Refusal(400, 'step must be a positive number'));
  const refused = apiError('badRequest', { text: 'step must be a positive number' });
  await t.throwsAsync(stage.handle(exchangeOf(), () => Promise.reject(refused)));
  t.deepEqual(await settled(1), { equal: 1 });
  await t.throwsAsync(stage.handle(exchangeOf(), () => Promise.reject(new Error('out of order'))));
  await pause(50);
  t.is(loki.asked.length, 1);
});

test('a mirror that hangs or is gone changes no answer, and takes no more than its share', async (t) => {
  const { loki, host, stage, settled } = await stageTo(t, () => 'no answer', {
    // Long enough for the requests to be sent even on a busy machine.
    timeout: '2s',
    maxConcurrent: 2,
  });
  for (let index = 0; index < 10; index += 1)
    t.deepEqual(await stage.handle(exchangeOf(), () => Promise.resolve(scalar(index))), scalar(index));
  t.is(await host.metric('mirror_not_sent_total', { reason: 'concurrency' }), 8);
  t.deepEqual(await settled(2), { failed: 2 });
  t.is(loki.asked.length, 2);
});

test('requests beyond the rate, answers over the limit, background work and tails are not mirrored', async (t) => {
  const slow = await stageTo(t, () => mirrored('1'), { rate: 1 });
  for (let index = 0; index < 3; index += 1)
    await slow.stage.handle(exchangeOf(), () => Promise.resolve(scalar(1)));
  t.is(await slow.host.metric('mirror_not_sent_total', { reason: 'rate' }), 2);
  const small = await stageTo(t, () => matrix([{ app: 'a'.repeat(4000) }, [60, '1']]), {
    maxAnswerBytes: 2000,
  });
  await small.stage.handle(exchangeOf(), () => Promise.resolve(scalar(1)));
  t.deepEqual(await small.settled(1), { skipped: 1 });
  const none = await stageTo(t, () => mirrored('1'));
  await none.stage.handle(exchangeOf('1', { caller: { isBackground: true } }), () =>
    Promise.resolve(scalar(1)),
  );
  await none.stage.handle(makeExchange({ request: { op: 'tenant' } }), () => Promise.resolve(scalar(1)));
  await pause(50);
  t.is(none.loki.asked.length, 0);
});

test('a request that comes again by its bytes is let through, or goes through the chain to be mirrored', async (t) => {
  const off = mirror.create(optionsOf('mirror', {}) as unknown as MirrorOptions, hostFor(mirror));
  t.true(off.admitAgain?.(exchangeOf())?.());
  const { loki, stage, settled } = await stageTo(t, () => mirrored('1'));
  t.false(stage.admitAgain?.(exchangeOf())?.());
  await stage.handle(exchangeOf(), () => Promise.resolve(scalar(1)));
  t.deepEqual(await settled(1), { equal: 1 });
  t.is(loki.asked.length, 1);
});

test('a proxy with the stage mirrors a request of a client, and its admin API shows the difference', async (t) => {
  const loki = await lokiOf(t, () => mirrored('2'));
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  const pipeline = await mirroringPipeline({ url: loki.url, percent: 100 });
  await withProxy(
    pipeline,
    async ({ url, proxy }) => {
      const answer = await fetch(`${url}/loki/api/v1/query?query=vector(1)&time=60`);
      t.is(answer.status, 200);
      for (;;) {
        const shown = await fetch(`${proxy.urls.admin ?? url}/admin/mirror`);
        const { data } = (await shown.json()) as { readonly data: readonly { readonly request: unknown }[] };
        if (data.length === 0) {
          await pause(5);
          continue;
        }
        t.like(data[0]?.request, { path: '/loki/api/v1/query', params: { query: 'vector(1)' } });
        break;
      }
    },
    { flags: { backend: backend.url } },
  );
});
