import { randomInt } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import type { RunningProxy } from '../../../core/program/start-proxy.js';
import { FakeClock } from '../../../core/testing/index.js';
import { openProxy, openStore, type Store } from '../../conformance/target.js';
import { deepRuns } from '../../setup/runs.js';
import { metric } from './stored.js';

/** The law of the inventory: the combined listings of all buckets, new or cached, equal the listing of their whole range. */

const second = 1_000_000_000n;
const baseNs = 1_793_491_200n * second;
const days = 3;
const daySeconds = 86_400;
const nowSeconds = days * daySeconds + 1_234;
const isReal = process.env['BACKEND_URL'] !== undefined;
const accounts = isReal ? randomInt(1_000_000, 2_000_000_000) : 0;
const asMany = 40;
const map = JSON.stringify(
  Object.fromEntries(
    Array.from({ length: asMany }, (_none, index) => [
      `i${index}`,
      { account_id: String(accounts + 800 + index), project_id: '0' },
    ]),
  ),
);

let store: Store;
let direct: RunningProxy;
let inventory: RunningProxy;
const clock = new FakeClock(baseNs + BigInt(nowSeconds) * second);

test.before(async () => {
  store = await openStore(process.env['BACKEND_URL'], false);
  const flags: [string, string][] = [
    ['tenant-map', map],
    ['compat-cache-enabled', 'false'],
    ['server.register-instrumentation', 'true'],
  ];
  direct = await openProxy(store, [], [...flags, ['cache-disabled', 'true']], clock);
  inventory = await openProxy(store, [], flags, clock);
});

test.after.always(async () => {
  await Promise.all([direct.close(), inventory.close()]);
  await store.close();
});

interface Line {
  readonly at: number;
  readonly app: string;
  readonly pod: string;
}
const line = (at: fc.Arbitrary<number>): fc.Arbitrary<Line> =>
  fc.record({
    at,
    app: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    pod: fc.constantFrom('', 'p-1', 'p-2', 'p-3', 'p-4', 'p-5', 'p-6'),
  });
const anyTime = fc.oneof(
  fc.integer({ min: 0, max: nowSeconds }),
  // Often at bucket boundaries.
  fc.integer({ min: 0, max: Math.floor(nowSeconds / 600) }).map((ten) => ten * 600),
);
/** Seconds before now, in the newest minute. */
const justNow = fc.integer({ min: 0, max: 50 });

interface Asked {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}
/** Longer than the selectors whose values are read from streams. */
const long = `{pod!="", ${Array.from({ length: 120 }, (_none, at) => `app!="${at}"`).join(', ')}}`;
const selectors = ['{app=~".+"}', '{app="a"}', '{pod!=""}', '{app=~"b|c", pod=~"p-[1-3]"}', long] as const;
const paths = [
  'labels?',
  'label/app/values?',
  'label/pod/values?',
  'label/service_name/values?',
  'label/none/values?',
  ...selectors.flatMap((selector) => [
    `labels?query=${encodeURIComponent(selector)}&`,
    `label/pod/values?query=${encodeURIComponent(selector)}&`,
    `series?match[]=${encodeURIComponent(selector)}&`,
  ]),
];
const asked: fc.Arbitrary<Asked> = fc
  .record({
    path: fc.constantFrom(...paths),
    end: fc.oneof(fc.constant(nowSeconds), fc.integer({ min: 700, max: nowSeconds + 400 })),
    span: fc.oneof(
      fc.integer({ min: 300, max: 4 * 3_600 }),
      fc.integer({ min: 3_600, max: days * daySeconds }),
    ),
  })
  .map(({ path, end, span }) => ({ path, start: Math.max(0, end - span), end }));

let tenant = -1;

test.serial(
  'listings from buckets, new and kept, are what the whole lists, also when lines come late',
  async (t) => {
    t.timeout(240_000);
    await fc.assert(
      fc.asyncProperty(
        fc.array(line(anyTime), { minLength: 20, maxLength: 60, size: 'max' }),
        fc.array(line(justNow), { minLength: 1, maxLength: 3 }),
        fc.array(line(anyTime), { minLength: 1, maxLength: 5 }),
        fc.array(asked, { minLength: 6, maxLength: 10 }),
        async (stored, newest, late, requests) => {
          tenant = (tenant + 1) % asMany;
          const startedSeconds = secondsNow();
          const compare = async (stage: string): Promise<void> => {
            for (const request of requests) {
              const aheadSeconds = secondsNow() - nowSeconds;
              const moved = {
                ...request,
                start: request.start + aheadSeconds,
                end: request.end + aheadSeconds,
              };
              const wanted = await answerOf(direct, tenant, moved);
              t.deepEqual(
                await answerOf(inventory, tenant, moved),
                wanted,
                `${stage} ${JSON.stringify(moved)} of ${tenant}`,
              );
            }
          };
          await push(tenant, stored);
          await compare('new');
          await compare('kept');
          await push(
            tenant,
            newest.map((one) => ({ ...one, at: startedSeconds - one.at })),
          );
          clock.advance(2_001);
          await compare('with lines of the last minute');
          clock.advance(58_000);
          await compare('a minute later');
          await push(tenant, late);
          clock.advance(3_600_000);
          await compare('with lines that came late');
        },
      ),
      { numRuns: deepRuns(2, 4), endOnFailure: true },
    );
    t.true(Number(await metric(inventory.urls.main, 'inventory_answers_total')) > 60);
    for (const source of ['kept', 'backend'])
      t.true(
        Number(await metric(inventory.urls.main, `inventory_buckets_total{source="${source}"}`)) > 0,
        source,
      );
  },
);

function secondsNow(): number {
  return Math.floor(Number((clock.nowNs() - baseNs) / second));
}

async function push(place: number, lines: readonly Line[]): Promise<void> {
  const streams = lines.map(({ at, app, pod }) => ({
    stream: pod === '' ? { app } : { app, pod },
    values: [[(baseNs + BigInt(at) * second).toString(), 'a line']],
  }));
  const response = await fetch(`${store.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', AccountID: String(accounts + 800 + place) },
    body: JSON.stringify({ streams }),
  });
  if (response.status >= 300) throw new Error(await response.text());
  await response.arrayBuffer();
  // A new stream appears in one of VictoriaLogs' listings some seconds before another.
  if (isReal) await new Promise((resolve) => setTimeout(resolve, 6_000));
}

async function answerOf(proxy: RunningProxy, place: number, { path, start, end }: Asked): Promise<unknown> {
  const range = `start=${baseNs + BigInt(start) * second}&end=${baseNs + BigInt(end) * second}`;
  const response = await fetch(`${proxy.urls.main}/loki/api/v1/${path}${range}`, {
    headers: { 'x-scope-orgid': `i${place}` },
  });
  const body = (await response.json()) as { readonly data?: readonly unknown[] };
  const data = body.data?.map((one) => (typeof one === 'string' ? one : sorted(one)));
  return { status: response.status, ...body, data: path.startsWith('series') ? data?.sort() : data };
}

/** The labels of a series in a fixed order. */
function sorted(labels: unknown): string {
  return JSON.stringify(Object.entries(labels as object).sort());
}
