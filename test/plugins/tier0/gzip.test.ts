import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { request } from 'undici';
import type { Tier0Options } from '../../../core/base/options.gen.js';
import {
  makeExchange,
  makeLogAnswer,
  makeLogRequest,
  makePipeline,
  makeTenant,
  optionsOf,
  withPipeline,
} from '../../../core/testing/index.js';
import type { EndpointPlugin, StagePlugin } from '../../../core/plugin/index.js';
import type { Answer, EncodedAnswer, GzipForm } from '../../../core/wire/answer/types.js';
import admin from '../../../plugins/admin/index.js';
import referenceApi from '../../../plugins/reference-api/index.js';
import status from '../../../plugins/status/index.js';
import tenancy from '../../../plugins/tenancy/index.js';
import tier0 from '../../../plugins/tier0/index.js';
import { answering } from '../../core/http/fixtures.js';
import { hostFor } from '../host-for.js';

const path = `/loki/api/v1/query_range?${new URLSearchParams({ query: '{app="a"}', start: '1000', end: '2000' }).toString()}`;
const answer = makeLogAnswer(
  { app: 'a' },
  Array.from({ length: 100 }, (_, index) => `line ${index} of many alike`),
);

interface Under {
  /** The raw bytes of a response. */
  readonly get: (encoding: string) => Promise<Buffer>;
  readonly flush: () => Promise<unknown>;
  readonly kept: () => Promise<number>;
}

async function withTier0<Result>(
  values: Readonly<Record<string, unknown>>,
  use: (under: Under) => Promise<Result>,
): Promise<Result> {
  const pipeline = makePipeline({
    stages: [
      // The slots that a plugin needs are checked when the pipeline starts.
      { plugin: tenancy as unknown as StagePlugin, options: optionsOf('tenancy', {}) },
      { plugin: tier0 as unknown as StagePlugin, options: optionsOf('tier0', values) },
      answering(answer),
    ],
    endpoints: [
      { plugin: referenceApi as unknown as EndpointPlugin, options: optionsOf('reference-api', {}) },
      { plugin: admin as unknown as EndpointPlugin, options: optionsOf('admin', {}) },
      { plugin: status as unknown as EndpointPlugin, options: optionsOf('status', {}) },
    ],
    telemetry: { registerInstrumentation: true },
  });
  return withPipeline(pipeline, async ({ url, proxy }) => {
    const get = async (encoding: string): Promise<Buffer> => {
      const { body } = await request(url + path, { headers: { 'accept-encoding': encoding } });
      return Buffer.from(await body.arrayBuffer());
    };
    const flush = (): Promise<unknown> =>
      request(`${proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
    const kept = async (): Promise<number> => {
      const text = await (await request(`${url}/metrics`)).body.text();
      return Number(/^ref_proxy_compat_cache_bytes (.+)$/m.exec(text)?.[1]);
    };
    return use({ get, flush, kept });
  });
}

test('a client that takes gzip gets the bytes that it would get without kept answers', async (t) => {
  const without = await withTier0({ enabled: false }, ({ get }) => get('gzip'));
  await withTier0({}, async ({ get }) => {
    const plain = await get('identity');
    t.deepEqual(await get('gzip'), without);
    t.deepEqual(await get('gzip'), without);
    t.deepEqual(gunzipSync(without), plain);
    t.deepEqual(await get('identity'), plain);
  });
});

test('the gzip form of a kept answer is in the count of kept bytes, once, until a flush', async (t) => {
  await withTier0({}, async ({ get, kept, flush }) => {
    await get('identity');
    const before = await kept();
    const { length } = await get('gzip');
    t.is(await kept(), before + length);
    await Promise.all([get('gzip'), get('gzip'), get('gzip')]);
    t.is(await kept(), before + length);
    await flush();
    t.is(await kept(), 0);
    await get('gzip');
    t.is(await kept(), before + length);
  });
});

/** A request to tier0, and a compression that counts its calls. */
function keptBy(values: Readonly<Record<string, unknown>>, given: Answer) {
  const host = hostFor(tier0);
  const stage = tier0.create(optionsOf('tier0', values) as unknown as Tier0Options, host);
  host.clock.advance(36_000_000);
  const ask = async (): Promise<EncodedAnswer & { readonly gzip: GzipForm }> => {
    const exchange = makeExchange<'tenant'>({
      slots: { tenant: makeTenant('a') },
      request: makeLogRequest(),
    });
    const kept = await stage.handle(exchange, () => Promise.resolve(given));
    if (kept.kind !== 'encoded' || kept.gzip === undefined) throw new Error('not kept');
    return { ...kept, gzip: kept.gzip };
  };
  const compressed: Buffer[] = [];
  const compress = (body: Buffer): Promise<Buffer> => {
    compressed.push(body);
    return Promise.resolve(Buffer.from(`${body.length} bytes`));
  };
  return { ask, compress, compressed, host, stage };
}

test('clients that come together, and all that come later, share one compression', async (t) => {
  const { ask, compress, compressed } = keptBy({}, answer);
  const together = [await ask(), await ask()];
  const forms = new Set(await Promise.all(together.map(({ gzip, body }) => gzip.of(body, compress))));
  const { gzip, body } = await ask();
  forms.add(await gzip.of(body, compress));
  t.is(forms.size, 1);
  t.deepEqual(compressed, [body]);
});

test('a gzip form for which there is no room is given and not kept', async (t) => {
  const { ask, compress, compressed, host } = keptBy(
    { cacheMaxBytes: 1_000_000 },
    makeLogAnswer({ app: 'a' }, ['x'.repeat(6_000)]),
  );
  const { gzip, body } = await ask();
  const before = await host.metric('compat_cache_bytes');
  const large = (plain: Buffer): Promise<Buffer> => {
    compressed.push(plain);
    return Promise.resolve(Buffer.alloc(body.length));
  };
  t.is((await gzip.of(body, large)).length, body.length);
  t.is((await gzip.of(body, large)).length, body.length);
  t.is(compressed.length, 2);
  t.is(await host.metric('compat_cache_bytes'), before);
  await gzip.of(body, compress);
  await gzip.of(body, compress);
  t.is(compressed.length, 3);
});

test('a gzip form that is made while the answers are dropped is not counted', async (t) => {
  const { ask, stage, compress, host } = keptBy({}, answer);
  const { gzip, body } = await ask();
  const making = gzip.of(body, compress);
  await stage.purge?.('answers');
  await making;
  t.is(await host.metric('compat_cache_bytes'), 0);
});

test('a compression that failed is tried again', async (t) => {
  const { ask, compress } = keptBy({}, answer);
  const { gzip, body } = await ask();
  await t.throwsAsync(
    gzip.of(body, () => Promise.reject(new Error('no memory'))),
    { message: 'no memory' },
  );
  t.is((await gzip.of(body, compress)).toString(), `${body.length} bytes`);
});

test('a body that another stage has replaced is compressed itself', async (t) => {
  const { ask, compress } = keptBy({}, answer);
  const { gzip, body } = await ask();
  await gzip.of(body, compress);
  t.is((await gzip.of(Buffer.from('other'), compress)).toString(), '5 bytes');
});

test('a gzip form that is kept holds on to no memory but its own', async (t) => {
  const { ask } = keptBy({}, answer);
  const { gzip, body } = await ask();
  const form = await gzip.of(body, () => Promise.resolve(Buffer.alloc(16_384).subarray(0, 100)));
  t.is(form.buffer.byteLength, 100);
});
