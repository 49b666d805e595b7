import test from 'ava';
import fc from 'fast-check';
import type { LogsqlQuery } from '../../../../../core/victoria/logsql/ast.js';
import { runs } from '../../../../setup/samples.js';
import { MetricStore, rangeRequest, valuesOf, type StoredEntry } from '../metric-store.js';
import { LineStore } from './line-store.js';

const second = 1_000_000_000n;
const base = 1793491200000000001n;
const lengthNs = 3600n * second;
let store: MetricStore;

test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

/** Rows of 60 streams in two teams; in the first `clashing` streams the rows have metadata named `team`. */
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
  [3, ['__stream__0', '_time']],
  [55, ['__stream__0', '_time']],
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

test('streams of an OTLP exporter are counted together by service, whatever metadata they have', async (t) => {
  const account = 95_560;
  const rows = Array.from({ length: 120 }, (_, n): StoredEntry => ({
    ns: base + BigInt(n) * 30n * second,
    stream: { 'service.name': `s${n % 2}`, 'host.name': `h${n % 7}`, 'k8s.pod.name': `p${n % 30}` },
    line: `line ${n}`,
  }));
  await store.push(account, rows);
  const text = 'sum by (service_name) (count_over_time({service_name=~".+"} [10m]))';
  const request = rangeRequest(text, base - 1n + 600n * second, base - 1n + lengthNs, 600n * second);
  const columns = new Set<string>();
  const { answer } = await store.run(request, {
    account,
    asked: ({ pipes }) => {
      for (const pipe of pipes)
        if (pipe.kind === 'stats' && pipe.functions.some(({ as }) => as === 'value'))
          for (const { field } of pipe.by) columns.add(field);
    },
  });
  const expected = await store.run(request, { account, pushdown: 'off' });
  t.deepEqual(valuesOf(answer), valuesOf(expected.answer));
  t.deepEqual([...columns], ['service.name']);
});

/**
 * Two streams with the same label. Only the one with a dotted name may come from an OTLP exporter, so only there VictoriaLogs fills in the
 * severity text.
 */
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

test('streams whose rows show other labels are counted apart by one more field instead of by stream', async (t) => {
  const account = 95_750;
  await store.push(
    account,
    alike.map(({ stream, ...entry }, n) => ({
      ...entry,
      stream: { ...stream, pod: `pod-${n % 7}`, zone: 'app' in stream ? 'a' : `b${n % 2}` },
    })),
  );
  const text = 'sum by (env, severity_text) (count_over_time({env="x"} [10m]))';
  const request = rangeRequest(text, base - 1n + 600n * second, base - 1n + lengthNs, 600n * second);
  const expected = await store.run(request, { account, pushdown: 'off' });
  const counted = new Set<string>();
  const { answer, tried } = await store.run(request, {
    account,
    asked: ({ pipes }) => {
      for (const pipe of pipes)
        if (pipe.kind === 'stats' && pipe.by.some(({ field }) => field === 'severity_text'))
          for (const { field } of pipe.by) counted.add(field);
    },
  });
  t.is(tried.at(-1), 'statistics:ran');
  t.deepEqual(valuesOf(answer), valuesOf(expected.answer));
  t.false(counted.has('_stream'));
  // `zone` also separates the streams, but has three values.
  t.true(counted.has('app') || counted.has('service.name'));
  t.false(counted.has('zone') || counted.has('pod'));
});

/** The label `team` is the first one of some or all streams, and other names end with it. */
const namesOfLabels = [
  ['a', 'b_a', 'team', 'x_team', 'z'],
  ['a', 'team'],
  ['team', 'x_team'],
];
const oddValues = ['x,team="odd"', '{team="even"', 'team=', 'x"y\\', '=', '<b>&amp;'];
const value = fc.oneof(
  { weight: 25, arbitrary: fc.constantFrom('odd', 'even') },
  { weight: 1, arbitrary: fc.constantFrom(...oddValues) },
);

/** Rows in streams with odd names and values; some rows have metadata named like labels. */
const oddEntries = fc
  .constantFrom(...namesOfLabels)
  .chain((names) =>
    fc.array(
      fc.record({
        stream: fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] }),
        metadata: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 1 }),
      }),
      { minLength: 3, maxLength: 7 },
    ),
  )
  .map((made) =>
    Array.from({ length: 240 }, (_, n): StoredEntry => {
      const { stream, metadata } = made[n % made.length] ?? { stream: {}, metadata: {} };
      return {
        ...{ ns: base + BigInt(n) * second, stream: { ...stream, zone: 'eu' }, line: `{"n":${n}}` },
        ...(n % 3 === 0 ? { metadata } : {}),
      };
    }),
  );

test.serial(
  'rows are counted by the labels of their streams, whatever these and their metadata are called',
  async (t) => {
    t.timeout(300_000);
    const odd = await LineStore.open(95_800);
    try {
      const counted = new Set<string>();
      await fc.assert(
        fc.asyncProperty(oddEntries, async (stored) => {
          await odd.push(stored);
          const asked = ({ pipes }: LogsqlQuery): void => {
            for (const pipe of pipes) if (pipe.kind === 'extract') counted.add(pipe.pattern);
          };
          await odd.run('sum by (team) (rate({zone="eu"} [60s]))', { asked });
          await odd.compare(t, [
            'sum by (team) (count_over_time({zone="eu"} [60s]))',
            'sum by (a, team) (bytes_over_time({zone="eu"} [60s]))',
          ]);
        }),
        { numRuns: runs(20) },
      );
      t.deepEqual([...counted].sort(), [',team=<__stream__0>', 'team=<__stream__0>', '{team=<__stream__0>']);
    } finally {
      await odd.close();
    }
  },
);
