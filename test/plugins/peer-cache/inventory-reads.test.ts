import { rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startDevBackend } from '../../../core/embedded/index.js';
import { FakeClock, withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../../core/embedded/harness.js';
import { metric, pipeline } from './stored.js';

/** What listings over long ranges ask the backend for. */

const secondNs = 1_000_000_000n;
const minute = 60;
const day = 86_400;
const nowNs = 1_793_491_200n * secondNs + 20_000n * secondNs;
const listings = '/select/logsql/stream_field_names';

async function setup(t: ExecutionContext, flags: Readonly<Record<string, string>> = {}) {
  const backend = await startDevBackend({ faults: true });
  t.teardown(() => backend.close());
  for (const [app, ageSeconds] of [
    ['a', 6 * day],
    ['b', 3 * 3_600],
    ['c', 10],
  ] as const)
    await pushLoki(backend.url, { [app]: 'x' }, [[nowNs - BigInt(ageSeconds) * secondNs, 'line']]);
  const clock = new FakeClock(nowNs);
  const asked = (): number => backend.stats().calls[listings] ?? 0;
  const start = (use: (url: string) => Promise<void>): Promise<void> =>
    withProxy(pipeline(backend.url), ({ url }) => use(url), {
      flags: { 'server.register-instrumentation': 'true', ...flags },
      clock,
    });
  const labels = async (url: string, seconds: number, more = ''): Promise<readonly string[] | number> => {
    const endNs = clock.nowNs();
    const range = `start=${endNs - BigInt(seconds) * secondNs}&end=${endNs}`;
    const answer = await fetch(`${url}/loki/api/v1/labels?${range}${more}`);
    const body = (await answer.json()) as { readonly data?: readonly string[] };
    return answer.status === 200 ? (body.data ?? []) : answer.status;
  };
  /** The listing after so many fails. */
  const failAfter = (times: number): Promise<Response> =>
    fetch(`${backend.url}/-/faults`, {
      method: 'POST',
      body: JSON.stringify([
        { path: listings, latencyMs: 1, times },
        { path: listings, status: 500, text: 'broken', times: 1 },
      ]),
    });
  return { clock, asked, start, labels, failAfter };
}

test('a week of labels is listed once, and then only what is new of it, until buckets are due', async (t) => {
  const { clock, asked, start, labels } = await setup(t);
  await start(async (url) => {
    t.deepEqual(await labels(url, 7 * day), ['a', 'b', 'c', 'service_name']);
    const first = asked();
    t.true(first > 10 && first < 60, `${first}`);
    for (let refresh = 1; refresh <= 5; refresh += 1) {
      clock.advance(5_000);
      t.deepEqual(await labels(url, 7 * day), ['a', 'b', 'c', 'service_name']);
    }
    t.is(asked(), first + 5, 'the newest minutes');
    clock.advance(3_600_000);
    const before = asked();
    await labels(url, 7 * day);
    t.true(asked() > before + 10, 'every bucket is due');
  });
});

test('with -metadata-inventory-parallelism=0 the whole range is listed each time', async (t) => {
  const { clock, asked, start, labels } = await setup(t, { 'metadata-inventory-parallelism': '0' });
  await start(async (url) => {
    for (let refresh = 1; refresh <= 3; refresh += 1) {
      t.deepEqual(await labels(url, 7 * day), ['a', 'b', 'c', 'service_name']);
      t.is(asked(), refresh);
      clock.advance(5_000);
    }
    t.is(await metric(url, 'inventory_answers_total'), '0');
  });
});

test('ranges under ten minutes or over two months, and listings with a limit, are asked as they are', async (t) => {
  const { asked, start, labels } = await setup(t, { 'label-browse-extensions': 'on' });
  await start(async (url) => {
    t.deepEqual(await labels(url, 9 * minute), ['c', 'service_name']);
    t.is(asked(), 1);
    t.deepEqual(await labels(url, 7 * day, '&limit=2'), ['a', 'b']);
    t.is(asked(), 2);
    t.deepEqual(await labels(url, 50_000 * day), ['a', 'b', 'c', 'service_name']);
    t.is(asked(), 3);
    t.deepEqual(await labels(url, 7 * day, '&search=SERV'), ['service_name']);
    t.true(asked() > 10);
  });
});

test('what a request that failed has listed is kept for the next one', async (t) => {
  const { clock, asked, start, labels, failAfter } = await setup(t, {
    'metadata-inventory-parallelism': '1',
  });
  await start(async (url) => {
    await failAfter(10);
    t.is(await labels(url, 7 * day), 502);
    t.is(asked(), 11);
    clock.advance(5_000);
    t.deepEqual(await labels(url, 7 * day), ['a', 'b', 'c', 'service_name']);
    t.is(await metric(url, 'inventory_buckets_total{source="kept"}'), '9', 'all but the edge');
  });
});

test('buckets are found on the disk after a restart', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-inventory-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const { clock, asked, start, labels } = await setup(t, { 'disk-cache-path': join(folder, 'cache.db') });
  await start(async (url) => {
    t.deepEqual(await labels(url, 7 * day), ['a', 'b', 'c', 'service_name']);
  });
  const before = asked();
  clock.advance(5_000);
  await start(async (url) => {
    t.deepEqual(await labels(url, 7 * day), ['a', 'b', 'c', 'service_name']);
    t.true(Number(await metric(url, 'disk_cache_hits_total')) > 0);
  });
  // Some buckets may be due where the machine is slow.
  t.true(asked() - before < before, `${asked() - before} calls after the restart`);
});
