import { rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { withDisk } from '../../core/cache/disk-engines.js';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { FakeClock, withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';
import { metric, pipeline } from './stored.js';

/** The backend requests of listings over long ranges. */

const secondNs = 1_000_000_000n;
const minute = 60;
const day = 86_400;
const nowNs = 1_793_491_200n * secondNs + 20_000n * secondNs;
const listings = '/select/logsql/streams';

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
  const calls = (name: string): number => backend.stats().calls[`/select/logsql/${name}`] ?? 0;
  let firsts = 0;
  const asked = (): number =>
    ['streams', 'stream_field_names', 'stream_field_values'].reduce((sum, name) => sum + calls(name), 0) -
    firsts;
  const startNew = (use: (url: string) => Promise<void>): Promise<void> =>
    withProxy(pipeline(backend.url), ({ url }) => use(url), {
      flags: { 'server.register-instrumentation': 'true', ...flags },
      clock,
    });
  /** Starts a proxy and sends its first listing, which creates no buckets. */
  const start = (use: (url: string) => Promise<void>): Promise<void> =>
    startNew(async (url) => {
      await list(url, 'label/none/values', 3_600);
      firsts += 1;
      await use(url);
    });
  const list = async (
    url: string,
    path: string,
    seconds: number,
    more = '',
  ): Promise<readonly unknown[] | number> => {
    const endNs = clock.nowNs();
    const range = `start=${endNs - BigInt(seconds) * secondNs}&end=${endNs}`;
    const answer = await fetch(`${url}/loki/api/v1/${path}?${range}${more}`);
    const body = (await answer.json()) as { readonly data?: readonly unknown[] };
    return answer.status === 200 ? (body.data ?? []) : answer.status;
  };
  const labels = (url: string, seconds: number, more?: string): Promise<readonly unknown[] | number> =>
    list(url, 'labels', seconds, more);
  /** Lets `times` listings succeed and the next one fail. */
  const failAfter = (times: number): Promise<Response> =>
    fetch(`${backend.url}/-/faults`, {
      method: 'POST',
      body: JSON.stringify([
        { path: listings, latencyMs: 1, times },
        { path: listings, status: 500, text: 'broken', times: 1 },
      ]),
    });
  return { backend, clock, calls, asked, start, startNew, list, labels, failAfter };
}

test('the first listing of all is one call for the whole, and the second makes buckets', async (t) => {
  const { asked, startNew, labels, list } = await setup(t);
  await startNew(async (url) => {
    t.deepEqual(await labels(url, 7 * day), ['a', 'b', 'c', 'service_name']);
    t.is(asked(), 1);
    t.deepEqual(await list(url, 'label/a/values', 7 * day), ['x']);
    t.true(asked() > 10);
  });
});

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

test('where a range of the past begins and ends within buckets makes no new question, unless they list more than the rest', async (t) => {
  const { backend, clock, asked, start } = await setup(t);
  await start(async (url) => {
    const week = async (secondsLater: number): Promise<unknown> => {
      const endNs = nowNs - BigInt(day - secondsLater) * secondNs;
      const range = `start=${endNs - BigInt(6 * day) * secondNs}&end=${endNs}`;
      return (
        (await (await fetch(`${url}/loki/api/v1/labels?${range}`)).json()) as { readonly data: unknown }
      ).data;
    };
    t.deepEqual(await week(0), ['a', 'service_name']);
    const first = asked();
    for (const later of [7, 11, 13]) t.deepEqual(await week(later), ['a', 'service_name']);
    t.is(asked(), first);
    // Pushes into the minute in which the range ends, but after its end.
    await pushLoki(backend.url, { late: 'x' }, [[nowNs - BigInt(day - 17) * secondNs, 'line']]);
    clock.advance(3 * 3_600_000);
    t.deepEqual(await week(13), ['a', 'service_name']);
    t.deepEqual(await week(19), ['a', 'late', 'service_name']);
  });
});

test('a range of hours asks for few buckets, whichever minutes it begins and ends at', async (t) => {
  const { asked, start } = await setup(t);
  await start(async (url) => {
    for (const [minutes, most] of [
      [0, 8],
      [3, 0],
      [17, 0],
      [64, 1],
    ] as const) {
      const endNs = nowNs - BigInt(3 * day + 60 * minutes + 11) * secondNs;
      const range = `start=${endNs - BigInt(5 * 3_600 + 7) * secondNs}&end=${endNs}`;
      const before = asked();
      t.is((await fetch(`${url}/loki/api/v1/labels?${range}`)).status, 200);
      t.true(asked() - before <= most, `${minutes} minutes earlier: ${asked() - before} calls`);
    }
  });
});

test('every label, value and selection over the same time is read from the same streams', async (t) => {
  const { clock, asked, start, list, labels } = await setup(t);
  await start(async (url) => {
    await labels(url, 7 * day);
    const first = asked();
    t.deepEqual(await list(url, 'label/a/values', 7 * day), ['x']);
    t.deepEqual(await list(url, 'label/service_name/values', 7 * day), ['unknown_service']);
    t.deepEqual(await list(url, 'label/b/values', 7 * day, `&query=${encodeURIComponent('{a="x"}')}`), []);
    t.deepEqual(await list(url, 'series', 7 * day, `&match[]=${encodeURIComponent('{b=~"x|y"}')}`), [
      { b: 'x', service_name: 'unknown_service' },
    ]);
    t.is(asked(), first, 'nothing new for those who ask together');
    clock.advance(5_000);
    await labels(url, 7 * day);
    await list(url, 'label/a/values', 7 * day);
    await list(url, 'label/c/values', 7 * day);
    t.is(asked(), first + 1);
  });
});

test('of more streams than are read at once, each listing has buckets of its own', async (t) => {
  const { backend, clock, calls, start, list } = await setup(t);
  const streams = Array.from(
    { length: 10_001 },
    (_none, pod) => `{"pod":"${pod % 3}","id":"${pod}","m":"line"}`,
  );
  const query = '_stream_fields=pod,id&_msg_field=m';
  const time = new Date(Number((clock.nowNs() - 7_200n * secondNs) / 1_000_000n)).toISOString();
  const body = streams.map((row) => row.replace('{', `{"_time":"${time}",`)).join('\n');
  await fetch(`${backend.url}/insert/jsonline?${query}`, { method: 'POST', body });
  await start(async (url) => {
    for (let time = 0; time < 2; time += 1) {
      t.deepEqual(await list(url, 'label/pod/values', 7 * day), ['0', '1', '2']);
      clock.advance(5_000);
    }
    t.true(calls('streams') > 0, 'too many were found');
    const before = calls('streams');
    t.true(calls('stream_field_values') > 10);
    const values = calls('stream_field_values');
    t.deepEqual(await list(url, 'label/pod/values', 7 * day), ['0', '1', '2']);
    t.is(calls('streams'), before);
    t.is(calls('stream_field_values'), values + 1);
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
    t.is(await metric(url, 'inventory_buckets_total{source="kept"}'), '10', 'all of them');
  });
});

withDisk(test)('buckets are found on the disk after a restart', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-inventory-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const flags = { 'disk-cache-path': join(folder, 'cache.db') };
  const { clock, asked, start, startNew, labels } = await setup(t, flags);
  await start(async (url) => {
    t.deepEqual(await labels(url, 7 * day), ['a', 'b', 'c', 'service_name']);
  });
  const before = asked();
  clock.advance(5_000);
  await startNew(async (url) => {
    t.deepEqual(await labels(url, 7 * day), ['a', 'b', 'c', 'service_name']);
    t.true(Number(await metric(url, 'disk_cache_hits_total')) > 0);
  });
  // On a slow machine, some buckets may be due.
  t.true(asked() - before < before, `${asked() - before} calls after the restart`);
});
