import test from 'ava';
import type { LabelIndexOptions } from '../../../core/base/options.gen.js';
import type { Answer } from '../../../core/plugin/index.js';
import { makeExchange, makeTenant, optionsOf, runStage } from '../../../core/testing/index.js';
import labelIndex from '../../../plugins/label-index/index.js';
import { pushLoki } from '../embedded-backend/harness.js';
import { withDoor } from '../delete/through-the-door.js';
import { withPods } from './doors.js';

const pods = ['pod-1', 'pod-2', 'Pod-3', 'pod-4', 'pod-5'];
const byName = [...pods].sort();

test('without the flag the index passes everything on, and browse parameters mean nothing', async (t) => {
  const { run, asked } = await withPods(t, pods);
  await run(
    async ({ values, metric }) => {
      for (const query of ['', '?limit=2', '']) t.deepEqual(await values(query), byName);
      t.is(asked(), 3);
      t.is(await metric('label_index_labels'), '0');
    },
    { 'label-values-indexed-cache': 'false' },
  );
});

test('the second browse is answered from the index, for any time, page and search', async (t) => {
  const { run, asked } = await withPods(t, pods);
  await run(async ({ values, metric }) => {
    t.deepEqual(await values(), byName);
    t.is(asked(), 1);
    t.deepEqual(await values(), byName);
    t.deepEqual(await values('?start=1000000000&end=1000003600&query=*'), byName);
    t.deepEqual(await values('?limit=2&offset=1'), byName.slice(1, 3));
    t.deepEqual(await values('?search=D-3'), ['Pod-3']);
    t.deepEqual(await values('?q=pod&offset=4'), byName.slice(4));
    t.is(asked(), 1);
    t.is(await metric('label_index_hits_total'), '5');
    t.is(await metric('label_index_misses_total'), '1');
    t.is(await metric('label_index_entries'), '5');
    t.is(await metric('label_index_labels'), '1');
    t.true(Number(await metric('label_index_bytes')) > 0);
  });
});

test('the first browse is cut to its page only after all values have been learnt', async (t) => {
  const { run, asked } = await withPods(t, pods);
  await run(async ({ values }) => {
    t.deepEqual(await values('?limit=1&offset=1&search=pod'), ['pod-1']);
    t.deepEqual(await values(), byName);
    t.is(asked(), 1);
  });
});

test('a browse without a limit gets the hot limit, and none gets more than 10000', async (t) => {
  const { run } = await withPods(t, pods);
  await run(
    async ({ values }) => {
      for (let each = 0; each < 2; each += 1) t.deepEqual(await values(), byName.slice(0, 2));
      t.deepEqual(await values('?limit=4'), byName.slice(0, 4));
    },
    { 'label-values-hot-limit': '2' },
  );
  await run(async ({ values }) => t.deepEqual(await values('?limit=4294967296'), byName), {
    'label-values-hot-limit': '4294967296',
  });
});

test('a query reads the backend whole, and makes what it selects hotter', async (t) => {
  const { run, asked, push } = await withPods(t, pods);
  await push(['pod-6', 'pod-4'], { app: 'a' });
  await run(async ({ values }) => {
    const query = `?query=${encodeURIComponent('{app="a"}')}`;
    t.deepEqual(await values(`${query}&limit=1`), ['pod-4']);
    // The full list of values is not known yet.
    t.deepEqual(await values('?limit=2'), ['pod-4', 'pod-6']);
    t.is(asked(), 2);
    await push(['pod-7'], { app: 'a' });
    t.deepEqual(await values(`${query}&search=7`), ['pod-7']);
    t.is(asked(), 3);
    t.deepEqual(await values('?limit=3'), ['pod-4', 'pod-6', 'pod-7']);
    t.is((await values()).length, 7);
    t.is(asked(), 3);
  });
});

test('the index holds no more values of a label than its flag says', async (t) => {
  const { run, asked } = await withPods(t, pods);
  await run(
    async ({ values, metric }) => {
      for (let each = 0; each < 2; each += 1) t.deepEqual(await values(), byName.slice(0, 3));
      t.is(asked(), 1);
      t.is(await metric('label_index_evictions_total{reason="entries"}'), '2');
    },
    { 'label-values-index-max-entries': '3' },
  );
});

test('tenants and their credentials have values of their own', async (t) => {
  const { run, asked } = await withPods(t, pods);
  await run(
    async ({ values }) => {
      const asking = [
        {},
        { 'x-scope-orgid': '7' },
        { authorization: 'Bearer a' },
        { authorization: 'Bearer b' },
        { authorization: 'Bearer b', 'x-scope-orgid': '0' },
      ];
      const counts = [];
      for (const headers of [...asking, ...asking]) {
        await values('', headers);
        counts.push(asked());
      }
      // A tenant without values causes a backend request each time.
      t.deepEqual(counts, [1, 2, 3, 4, 5, 5, 6, 6, 6, 6]);
      t.deepEqual(await values('', { 'x-scope-orgid': '7' }), []);
    },
    { 'forward-authorization': 'true' },
  );
});

test('several tenants have the hottest values of all of them, page after page', async (t) => {
  const { run, push, asked } = await withPods(t, ['pod-1', 'pod-2', 'pod-3']);
  const ofSeven = { AccountID: '7', ProjectID: '0' };
  await push(['pod-2', 'pod-8', 'pod-9'], {}, ofSeven);
  await push(['pod-9'], { app: 'a' }, ofSeven);
  await run(
    async ({ values }) => {
      const both = { 'x-scope-orgid': '0|7' };
      await values(`?query=${encodeURIComponent('{app="a"}')}`, { 'x-scope-orgid': '7' });
      for (let each = 0; each < 2; each += 1) {
        const pages = [];
        for (const offset of [0, 2, 4]) pages.push(await values(`?offset=${offset}`, both));
        t.deepEqual(
          pages.map(({ length }) => length),
          [2, 2, 1],
        );
        // The value seen twice comes first; among values seen once, those of the most recently queried tenant come first.
        t.is(pages[0]?.[0], 'pod-9');
        t.deepEqual(pages.flat().sort(), ['pod-1', 'pod-2', 'pod-3', 'pod-8', 'pod-9']);
        t.deepEqual(await values('?limit=5&search=POD', both), pages.flat());
        t.deepEqual(await values('?limit=1&search=POD-8', both), ['pod-8']);
      }
      t.is(asked(), 3);
    },
    { 'label-values-hot-limit': '2' },
  );
});

test('a listing that fails is not learnt from', async (t) => {
  const { run, fail, asked } = await withPods(t, pods);
  await run(async ({ url, values }) => {
    await fail(true);
    t.true((await fetch(`${url}/loki/api/v1/label/pod/values`)).status >= 500);
    await fail(false);
    const before = asked();
    t.deepEqual(await values(), byName);
    t.is(asked(), before + 1);
  });
});

test('a listing with a warning is cut to what was asked for, and not learnt from', async (t) => {
  const options = optionsOf('label-index', { enabled: true }) as unknown as LabelIndexOptions;
  const range = { startNs: 0n, endNs: 1n };
  const browse = { limit: 1, offset: 1, search: 'A' };
  const exchange = makeExchange({ request: { op: 'label_values', name: 'pod', range, browse } });
  const whole: Answer = { kind: 'names', values: ['a1', 'a2', 'a3', 'b'], warnings: ['one is missing'] };
  const derived = exchange.derive<'tenant'>({ slots: { tenant: makeTenant('shop') } });
  const run = await runStage(labelIndex, options, derived, () => Promise.resolve(whole));
  t.deepEqual(run.answer, { ...whole, values: ['a2'] });
  t.deepEqual(
    run.seen.map(({ request, isFinal }) => [request, isFinal]),
    [[{ op: 'label_values', name: 'pod', range, browse: {} }, false]],
  );
});

test('a flush empties the index, of all or of one tenant', async (t) => {
  const { run, asked } = await withPods(t, pods);
  await run(async ({ values, proxy }) => {
    const flush = (query: string): Promise<Response> =>
      fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush${query}`, { method: 'POST' });
    await values();
    await flush('?tenant=7');
    await values();
    t.is(asked(), 1);
    await flush('');
    await values();
    t.is(asked(), 2);
  });
});

test('a deletion empties the index', async (t) => {
  await withDoor(
    async (door) => {
      const { url, backend } = door;
      const nowNs = BigInt(Date.now()) * 1_000_000n;
      for (const pod of ['pod-1', 'pod-2']) await pushLoki(backend.url, { pod }, [[nowNs, 'line']]);
      const values = async (): Promise<unknown> =>
        ((await (await fetch(`${url}/loki/api/v1/label/pod/values?limit=9`)).json()) as { data: unknown })
          .data;
      t.deepEqual(await values(), ['pod-1', 'pod-2']);
      const [start, end] = [nowNs - 3_600_000_000_000n, nowNs + 3_600_000_000_000n];
      t.is(
        (await door.delete({ query: '{pod="pod-1"}', start: String(start), end: String(end) })).status,
        204,
      );
      t.deepEqual(await values(), ['pod-2']);
    },
    { flags: { 'label-values-indexed-cache': 'true' } },
  );
});
