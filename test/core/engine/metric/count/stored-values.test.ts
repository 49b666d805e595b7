import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../../setup/runs.js';
import type { StoredEntry } from '../metric-store.js';
import { base, second } from './json-lines.js';
import { LineStore } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(99_000);
});
test.after.always(() => store.close());

const queries = [
  'quantile_over_time(0.7, {app=~".+"} | unwrap took | __error__="" [90s]) by (app)',
  'sum by (status) (sum_over_time({app=~".+"} | unwrap took | __error__="" [60s]))',
  'avg_over_time({app=~".+"} | status="200" | unwrap took | __error__="" [60s]) by (team, status)',
  'max_over_time({app="a"} | unwrap duration(took) | __error__="" [60s]) by (status)',
  'sum by (app) (sum_over_time({app=~".+"} |= "x" | unwrap took [60s]))',
  'sum by (app) (sum_over_time({app=~".+"} |= "warn" | unwrap took | __error__="" [60s]))',
  'max_over_time({app=~".+"} | unwrap took | __error__="" [60s])',
  'avg by (app) (avg_over_time({app=~".+"} | unwrap http_took | __error__="" [60s]))',
  'stddev_over_time({app=~".+"} | unwrap http_took | __error__="" [60s]) by (status)',
  'sum by (team) (rate({app=~".+"} | unwrap bytes(http_took) | __error__="" [60s]))',
  'min_over_time({app=~".+"} | label_format s=status | unwrap took | __error__="" [60s]) by (s)',
  'last_over_time({app=~".+"} | unwrap took | __error__="" [60s]) by (status)',
];

const values = ['12', '1.5', '-3', '1e3', 'abc', '', '2s', '4KB', '0'];
const metadata = fc.record(
  {
    took: fc.constantFrom(...values),
    status: fc.constantFrom('200', '500', ''),
    'http.took': fc.constantFrom('1', '2.5', 'x'),
    http_took: fc.constantFrom('7', '8'),
    team: fc.constant('blue'),
  },
  { requiredKeys: [] },
);
const streams = [
  { app: 'a' },
  { app: 'a', pod: 'p' },
  { app: 'b', team: 'red' },
  { app: 'c', status: '404' },
  { app: 'd', took: '5' },
];

/** Rows of few streams, so that usually none of them has the unwrapped label. */
const entries = fc.uniqueArray(fc.constantFrom(...streams), { minLength: 1, maxLength: 3 }).chain((used) =>
  fc
    .array(
      fc.record({
        at: fc.integer({ min: 0, max: 300 }),
        stream: fc.constantFrom(...used),
        line: fc.constantFrom('x', 'x', 'y', 'level=warn x', ''),
        metadata,
      }),
      { minLength: 20, maxLength: 60 },
    )
    .map((made): readonly StoredEntry[] =>
      made.map(({ at, ...entry }) => ({ ...entry, ns: base + BigInt(at) * second })),
    ),
);

test.serial('stored values are gathered as they would be unwrapped one by one', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(entries, fc.boolean(), async (stored, isTwice) => {
      await store.push(stored);
      if (isTwice) await store.add(stored.slice(0, 5));
      await store.compare(t, queries);
    }),
    { numRuns: deepRuns(8, 60) },
  );
});

test.serial('stored values that are unwrapped are gathered by the backend', async (t) => {
  const stored = Array.from({ length: 290 }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a', pod: `pod-${n % 3}` },
    line: `request ${n} took its time${'.'.repeat(200)}`,
    metadata: { 'http.took': String(n / 10), status: n % 3 === 0 ? '500' : '200' },
  }));
  await store.push(stored);
  const cases = [
    ['quantile_over_time(0.9, {app="a"} | unwrap http_took [60s]) by (status)', 'value-groups:ran', 40],
    ['max_over_time({app="a"} | status="500" | unwrap http_took [60s]) by (pod)', 'value-groups:ran', 60],
  ] as const;
  await store.compareReading(t, cases, 290 * 40);
});
