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

/** Rows of 60 streams in two teams, of which the first so many have rows with metadata of the name `team`. */
function entries(clashing: number): readonly StoredEntry[] {
  return Array.from({ length: 240 }, (_, n) => {
    const pod = n % 60;
    return {
      ns: base + BigInt(n) * 15n * second,
      stream: { app: 'a', pod: `pod-${pod}`, team: pod % 2 === 0 ? 'even' : 'odd' },
      line: `line ${n}`,
      ...(pod < clashing ? { metadata: { team: n < 120 ? 'odd' : 'even' } } : {}),
    };
  });
}

for (const [clashing, groupings] of [
  [0, ['team']],
  [3, ['_stream', 'team']],
  [55, ['_stream']],
] as const)
  test(`rows of ${clashing} streams have metadata with the name of a label: counted by ${groupings.join(' and ')}`, async (t) => {
    const account = 95_500 + clashing;
    await store.push(account, entries(clashing));
    const text = 'sum by (team) (count_over_time({app="a"} [10m]))';
    const request = rangeRequest(text, base - 1n + 600n * second, base - 1n + lengthNs, 600n * second);
    const expected = await store.run(request, { account, pushdown: 'off' });
    const counted: string[] = [];
    for (const time of ['first', 'again']) {
      counted.length = 0;
      const { answer } = await store.run(request, {
        account,
        asked: ({ pipes }) => {
          for (const pipe of pipes)
            if (pipe.kind === 'stats' && pipe.functions.some(({ as }) => as === 'value'))
              counted.push(...pipe.by.map(({ field }) => field));
        },
      });
      t.deepEqual(valuesOf(answer), valuesOf(expected.answer), time);
    }
    t.deepEqual(counted.sort(), [...groupings]);
  });

/** Two streams with the same label, of which only the one with a dotted name may come from an OTLP exporter: there VictoriaLogs fills in the text. */
const alike = Array.from({ length: 120 }, (_, n): StoredEntry => ({
  ns: base + BigInt(n) * 30n * second,
  stream: n % 3 === 0 ? { env: 'x', 'service.name': 's' } : { env: 'x', app: 's' },
  line: `line ${n}`,
  metadata: { severity_number: '9', severity_text: 'Info' },
}));

test('streams with the same values in the fields of a label are counted apart where their rows show other labels', async (t) => {
  const account = 95_700;
  await store.push(account, alike);
  const text = 'sum by (env, severity_text) (count_over_time({env="x"} [10m]))';
  const request = rangeRequest(text, base - 1n + 600n * second, base - 1n + lengthNs, 600n * second);
  const expected = await store.run(request, { account, pushdown: 'off' });
  const { answer, tried } = await store.run(request, { account });
  t.is(tried.at(-1), 'statistics:ran');
  t.true(Object.keys(valuesOf(answer)).some((key) => key.includes('Info')));
  t.deepEqual(valuesOf(answer), valuesOf(expected.answer));
});
