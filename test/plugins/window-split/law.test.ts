import { randomInt } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import type { RunningProxy } from '../../../core/program/start-proxy.js';
import { FakeClock } from '../../../core/testing/index.js';
import { openProxy, openStore, type Store } from '../../conformance/target.js';
import { runs } from '../../setup/samples.js';
import { anyOrder, keepsOrder, type LogStream } from '../../watch/any-order.js';

/** The law of windows: an answer composed of windows, new or cached, equals the answer for the whole range. */

const second = 1_000_000_000n;
const baseNs = 1_793_491_200n * second;
const hours = 6;
const accounts = process.env['BACKEND_URL'] === undefined ? 0 : randomInt(1_000_000, 2_000_000_000);

interface Entry {
  readonly ns: bigint;
  readonly app: string;
  readonly line: string;
  readonly pod: string;
}

let store: Store;
/** A proxy without windows. */
let whole: RunningProxy;
const windowed: { readonly proxy: RunningProxy; readonly clock: FakeClock }[] = [];
const noCaches = ['compat-cache-enabled', 'false'] as const;
const asMany = 40;
const map = JSON.stringify(
  Object.fromEntries(
    Array.from({ length: asMany }, (_none, index) => [
      `w${index}`,
      { account_id: String(accounts + 700 + index), project_id: '0' },
    ]),
  ),
);

test.before(async () => {
  store = await openStore(process.env['BACKEND_URL'], false);
  whole = await openProxy(
    store,
    [],
    [['tenant-map', map], ['cache-disabled', 'true'], ['query-range-windowing', 'false'], noCaches],
  );
  for (const [split, isAligned] of [
    ['7m', 'true'],
    ['1h', 'true'],
    ['17m', 'false'],
  ] as const) {
    const clock = new FakeClock(baseNs + BigInt(hours * 3600 + 3600) * second);
    const flags: [string, string][] = [
      ['tenant-map', map],
      ['query-range-split-interval', split],
      ['query-range-align-windows', isAligned],
      ['query-range-prefilter-min-windows', '4'],
      ['server.register-instrumentation', 'true'],
      [...noCaches],
    ];
    windowed.push({ proxy: await openProxy(store, [], flags, clock), clock });
  }
});

test.after.always(async () => {
  await Promise.all([whole, ...windowed.map(({ proxy }) => proxy)].map((proxy) => proxy.close()));
  await store.close();
});

const entry: fc.Arbitrary<Entry> = fc.record({
  // Often at window boundaries, and often at equal times.
  ns: fc
    .oneof(
      { weight: 4, arbitrary: fc.integer({ min: 0, max: hours * 3600 * 1000 - 1 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: hours * 6 - 1 }).map((ten) => ten * 600_000) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 }).map((seven) => seven * 420_000) },
    )
    .map((ms) => baseNs + BigInt(ms) * 1_000_000n),
  app: fc.constantFrom('a', 'b', 'c'),
  pod: fc.constantFrom('p-1', 'p-2', ''),
  line: fc.constantFrom(
    '{"n":1,"user":"x","took":"3ms"}',
    '{"n":2.5,"user":"y"}',
    'n=7 user=z level=error',
    'plain words',
    'an error happened',
    '{"n":',
  ),
});

const logQueries = [
  '{app=~"a|b"}',
  '{app=~".+"} |= "error"',
  '{app="a"} | json | n > 1',
  '{app=~".+"} | label_format x="{{.app}}" | line_format "{{.x}} {{__line__}}"',
] as const;
const metricQueries = [
  'sum by (app) (count_over_time({app=~".+"}[5m]))',
  'rate({app=~"a|b"} |= "n" [90s])',
  'topk(1, sum by (pod) (count_over_time({app=~".+"}[20m])))',
  'quantile_over_time(0.5, {app="a"} | json | unwrap n | __error__="" [15m]) by (user)',
  'stddev(count_over_time({app=~".+"}[10m]))',
  'absent_over_time({app="a"}[3m])',
  'sum(count_over_time({app="a"}[5m] offset 10m)) / sum(count_over_time({app=~".+"}[5m]))',
  'count_over_time({app="b"}[1h]) or vector(0)',
  'max_over_time({app="a"} | logfmt | unwrap n | __error__="" [30m])',
  'count_over_time({app="c"} | json [5m])',
  'sum(count_over_time({app="b"}[7m] offset -20m))',
] as const;

function requests(queries: readonly string[], count: number): fc.Arbitrary<Asked[]> {
  const one = fc.record({
    query: fc.constantFrom(...queries),
    start: fc.integer({ min: -600, max: 3 * 3600 }),
    span: fc.oneof(fc.integer({ min: 1, max: 3600 }), fc.integer({ min: 3600, max: 5 * 3600 })),
    step: fc.constantFrom(7, 30, 60, 300, 1000, 4000),
    limit: fc.constantFrom(1, 3, 10),
    direction: fc.constantFrom('backward', 'forward'),
  });
  return fc.array(one, { minLength: count, maxLength: count });
}

let tenant = -1;

test.serial('windows, new and kept, give what the whole gives, also when lines come late', async (t) => {
  t.timeout(240_000);
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { minLength: 60, maxLength: 150, size: 'max' }),
      fc.array(entry, { minLength: 1, maxLength: 3 }),
      fc.tuple(requests(logQueries, 3), requests(metricQueries, 4)).map((both) => both.flat()),
      async (stored, late, asked) => {
        tenant = (tenant + 1) % asMany;
        await push(tenant, stored);
        // A window that was cut by a limit must not count as complete.
        const requests = asked.flatMap((one) => [one, { ...one, limit: 1000 }]);
        const wholeAnswers = async (): Promise<readonly unknown[]> => {
          const answers: unknown[] = [];
          for (const request of requests) answers.push(await answerOf(whole, tenant, request));
          return answers;
        };
        const compare = async (stage: string, wanted: readonly unknown[]): Promise<void> => {
          for (const [place, request] of requests.entries())
            for (const { proxy } of windowed)
              t.deepEqual(
                await answerOf(proxy, tenant, request),
                wanted[place],
                `${stage} ${JSON.stringify(request)}`,
              );
        };
        const before = await wholeAnswers();
        await compare('new', before);
        await compare('kept', before);
        await push(tenant, late);
        for (const { clock } of windowed) clock.advance(61_000);
        await compare('late', await wholeAnswers());
      },
    ),
    // Shrinking would push and query data again and again.
    { numRuns: runs(3), endOnFailure: true },
  );
  for (const { proxy } of windowed) {
    const metrics = await (await fetch(`${proxy.urls.main}/metrics`)).text();
    const hits = /^ref_proxy_window_cache_hit_total (?<count>\d+)$/m.exec(metrics)?.groups?.['count'];
    t.true(Number(hits) > 20, hits);
  }
});

async function push(place: number, entries: readonly Entry[]): Promise<void> {
  const streams = entries.map(({ ns, app, pod, line }) => ({
    stream: { app },
    values: [[ns.toString(), line, pod === '' ? {} : { pod }]],
  }));
  const response = await fetch(`${store.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', AccountID: String(accounts + 700 + place) },
    body: JSON.stringify({ streams }),
  });
  if (response.status >= 300) throw new Error(await response.text());
  await response.arrayBuffer();
  if (process.env['BACKEND_URL'] !== undefined) await new Promise((resolve) => setTimeout(resolve, 1500));
}

interface Asked {
  readonly query: string;
  readonly start: number;
  readonly span: number;
  readonly step: number;
  readonly limit: number;
  readonly direction: string;
}

async function answerOf(
  proxy: RunningProxy,
  place: number,
  { query, start, span, step, limit, direction }: Asked,
): Promise<unknown> {
  const startNs = baseNs + BigInt(start) * second;
  const params = new URLSearchParams({
    query,
    start: startNs.toString(),
    end: (startNs + BigInt(span) * second).toString(),
    step: `${step}`,
    limit: `${limit}`,
    direction,
  });
  const response = await fetch(`${proxy.urls.main}/loki/api/v1/query_range?${params.toString()}`, {
    headers: { 'x-scope-orgid': `w${place}`, 'x-loki-response-encoding-flags': 'categorize-labels' },
  });
  const text = await response.text();
  if (response.status !== 200) return { status: response.status, text };
  const body = JSON.parse(text) as {
    data: { resultType: string; result: readonly LogStream[] };
    warnings?: unknown;
  };
  const { resultType, result } = body.data;
  const isOrdered = keepsOrder || resultType !== 'streams';
  return { result: isOrdered ? rounded(result) : anyOrder(result, limit), warnings: body.warnings };
}

/** Sums of fractions may differ in the last digit, because rows arrive in another order. */
function rounded(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result), (_key, value: unknown) =>
    typeof value === 'string' && /^-?\d+\.\d{6,}$/.test(value)
      ? String(Number(Number(value).toPrecision(12)))
      : value,
  );
}
