import test from 'ava';
import { MetricStore, rangeRequest, valuesOf, type StoredEntry } from '../metric-store.js';

const second = 1_000_000_000n;
const base = 1793491200000000001n;
const lengthNs = 3600n * second;
let store: MetricStore;

test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

/** Two streams with the same label, of which only the one with a dotted name may come from an OTLP exporter: there VictoriaLogs fills in the text. */
const entries = Array.from({ length: 120 }, (_, n): StoredEntry => ({
  ns: base + BigInt(n) * 30n * second,
  stream: n % 3 === 0 ? { env: 'x', 'service.name': 's' } : { env: 'x', app: 's' },
  line: `line ${n}`,
  metadata: { severity_number: '9', severity_text: 'Info' },
}));

test('streams with the same values in the fields of a label are counted apart where their rows show other labels', async (t) => {
  const account = 95_700;
  await store.push(account, entries);
  const text = 'sum by (env, severity_text) (count_over_time({env="x"} [10m]))';
  const request = rangeRequest(text, base - 1n + 600n * second, base - 1n + lengthNs, 600n * second);
  const expected = await store.run(request, { account, pushdown: 'off' });
  const { answer, tried } = await store.run(request, { account });
  t.is(tried.at(-1), 'statistics:ran');
  t.true(Object.keys(valuesOf(answer)).some((key) => key.includes('Info')));
  t.deepEqual(valuesOf(answer), valuesOf(expected.answer));
});
