import test from 'ava';
import { MetricStore, rangeRequest, valuesOf } from './metric-store.js';

const base = 1_793_491_200_000_000_000n;
const second = 1_000_000_000n;

let store: MetricStore;
test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

/** Queries that the backend counts. */
const queries = [
  'sum by (pod) (count_over_time({namespace="shop"} | json | line_format "{{.user}}" [1m]))',
  'sum by (user) (count_over_time({namespace="shop"} | json | line_format "{{.user}}" [1m]))',
  'sum(count_over_time({namespace="shop"} | decolorize [1m]))',
  'sum(count_over_time({namespace="shop"} | logfmt | drop __error__ [1m]))',
  'sum by (to, pod) (count_over_time({namespace="shop"} | label_format to=pod [1m]))',
  'sum by (pod) (count_over_time({namespace="shop"} | label_format pod=namespace | pod="shop" [1m]))',
  'sum by (to, user) (count_over_time({namespace="shop"} | json | label_format to=user [1m]))',
  'sum by (to, user, pod) (count_over_time({namespace="shop"} | json | label_format user=pod, to=user [1m]))',
];

test('stages that make no difference, and labels under another name, let the backend count', async (t) => {
  const account = 90_100;
  const rows = Array.from({ length: 60 }, (_none, n) => ({
    ns: base + BigInt(n * 7) * second,
    stream: { namespace: 'shop', ...(n % 3 === 0 ? {} : { pod: `p${n % 3}` }) },
    line: n === 9 ? '{"msg":"start"}' : `{"user":"u${n % 2}","msg":"timeout"}`,
    metadata: {},
  }));
  await store.push(account, rows);
  for (const query of queries) {
    const request = rangeRequest(query, base, base + 600n * second, 60n * second);
    const on = await store.run(request, { account });
    t.true(on.tried.includes('statistics:ran'), `${query}: ${on.tried.join(' ')}`);
    const off = await store.run(request, { account, pushdown: 'off' });
    t.true(Object.keys(valuesOf(off.answer)).length > 0, query);
    t.deepEqual(valuesOf(on.answer), valuesOf(off.answer), query);
  }
});
