import test from 'ava';
import fc from 'fast-check';
import { deepRuns, spreadSample } from '../../../setup/runs.js';
import {
  distinct,
  entryKey,
  EntryStore,
  expectations,
  labelsKey,
  rounded,
  sumBy,
  type Fields,
  type Pushed,
  type Shown,
  type Values,
} from './entry-store.js';

/** Rows are the same entry if their time, stream, line and structured metadata are equal, as in Loki. */

const second = 1_000_000_000n;
const minute = 60n * second;
const base = 1_793_491_200n * second;
const range = { start: base, end: base + 60n * minute };
const at = { time: range.end };

let store: EntryStore;

test.before(async () => {
  store = await EntryStore.open();
});
test.after.always(() => store.close());

/** Half of the proxies, alternating with the turn; all of them in a deep run. */
function someProxies(turn: number): EntryStore['proxies'] {
  return spreadSample(store.proxies, 2, 1, turn);
}

const placed = { ns: base + 10n * minute, stream: { app: 'dd' }, line: 'order placed' };
const threeEntries: readonly Pushed[] = [
  { ...placed, metadata: { trace_id: 'aaa' } },
  { ...placed, metadata: { trace_id: 'bbb' } },
  { ...placed, metadata: {} },
];

function metadataOf(entries: readonly Shown[]): readonly string[] {
  return entries.map(({ metadata }) => labelsKey(metadata)).sort();
}

async function statistics(
  proxy: EntryStore['proxies'][number][1],
  query: string,
): Promise<{
  readonly entries: number;
  readonly streams: number;
  readonly bytes: number;
  readonly volume: number;
}> {
  const { entries, streams, bytes } = await store.ask(proxy, 'index/stats', { query, ...range });
  const { data } = await store.ask(proxy, 'index/volume', { query, ...range });
  const { result } = data as { readonly result: readonly { readonly value: readonly [number, string] }[] };
  const volume = result.reduce((sum, { value }) => sum + Number(value[1]), 0);
  return { entries: Number(entries), streams: Number(streams), bytes: Number(bytes), volume };
}

test.serial(
  'lines that differ in their metadata alone are entries of their own, however often pushed',
  async (t) => {
    for (const [turn, copies] of [1, 3].entries()) {
      store.next();
      for (let copy = 0; copy < copies; copy += 1) await store.push(threeEntries);
      for (const [name, proxy] of someProxies(turn)) {
        const told = `${name}, ${copies} copies`;
        const query = '{app="dd"}';
        const levels = [
          'detected_level=unknown',
          ...['aaa', 'bbb'].map((id) => `detected_level=unknown trace_id=${id}`),
        ];
        for (const direction of ['forward', 'backward'])
          t.deepEqual(metadataOf(await store.entries(proxy, { query, direction, ...range })), levels, told);
        const filtered = await store.entries(proxy, { query: '{app="dd"} | trace_id="bbb"', ...range });
        t.is(filtered.length, 1, told);
        // Entries that become equal through stages are merged into one.
        const dropped = await store.entries(proxy, { query: '{app="dd"} | drop trace_id', ...range });
        t.is(dropped.length, 1, told);
        const values = (text: string): Promise<Values> => store.values(proxy, text, at);
        t.deepEqual(await values('sum by (app) (count_over_time({app="dd"}[1h]))'), { 'app=dd': 3 }, told);
        t.deepEqual(
          await values('sum by (trace_id) (count_over_time({app="dd"}[1h]))'),
          { '': 1, 'trace_id=aaa': 1, 'trace_id=bbb': 1 },
          told,
        );
        t.deepEqual(await values('sum(bytes_over_time({app="dd"} |= "order" [1h]))'), { '': 36 }, told);
        t.is(Object.keys(await values('count_over_time({app="dd"}[1h])')).length, 3, told);
        t.deepEqual(
          await values('sum(rate({app="dd"} | trace_id=~".+" [20s] offset 49m50s))'),
          { '': 0.1 },
          told,
        );
        const stats = await statistics(proxy, query);
        t.is(stats.entries, 3, told);
        t.is(stats.streams, 1, told);
      }
    }
  },
);

test.serial('of many lines with a trace each and times of milliseconds none is lost', async (t) => {
  store.next();
  const texts = [
    'an order was placed',
    'an order was paid',
    'the cart was filled',
    'the stock is checked',
    'a mail was sent to the buyer',
  ];
  const entries = Array.from({ length: 2000 }, (_none, index): Pushed => {
    const ms = BigInt((index * index) % 4000);
    const line = texts[(index * 31) % texts.length] ?? '';
    const metadata = { trace_id: `t${index}`, attempt: String(index % 3) };
    return { ns: base + 10n * minute + ms * 1_000_000n, stream: { app: 'shop' }, line, metadata };
  });
  const times = new Set(entries.map(({ ns, line }) => `${ns} ${line}`));
  t.true(times.size < entries.length - 50, 'many share time and line');
  const teens = entries.slice(10, 20);
  // Agents resend entries that they believe lost.
  await store.push([...entries, ...entries.slice(0, 300)]);
  const query = '{app="shop"}';
  for (const [name, proxy] of someProxies(0)) {
    const shown = await store.entries(proxy, { query, ...range });
    t.is(shown.length, 2000, name);
    t.is(new Set(shown.map(({ metadata }) => metadata['trace_id'])).size, 2000, name);
  }
  for (const [turn, [text, wanted]] of (
    [
      ['sum(count_over_time({app="shop"}[1h]))', { '': 2000 }],
      ['sum by (attempt) (count_over_time({app="shop"}[1h]))', sumBy(entries, ['attempt'])],
      [
        'sum by (trace_id) (count_over_time({app="shop"} | trace_id=~"t1[0-9]" [1h]))',
        sumBy(teens, ['trace_id']),
      ],
      ['sum(count_over_time({app="shop"} |= "order" [1h]))', { '': 800 }],
      ['sum(sum_over_time({app="shop"} | unwrap attempt [1h]))', { '': 1999 }],
    ] as const
  ).entries())
    for (const [name, proxy] of someProxies(turn))
      t.deepEqual(await store.values(proxy, text, at), wanted, `${name}: ${text}`);
  for (const [name, proxy] of someProxies(1)) {
    t.is((await statistics(proxy, query)).entries, 2000, name);
    const { data } = await store.ask(proxy, 'patterns', { query, ...range, step: '10s' });
    const found = data as readonly { readonly samples: readonly (readonly [number, number])[] }[];
    const lines = found.flatMap(({ samples }) => samples).reduce((sum, [, count]) => sum + count, 0);
    t.true(lines >= 2000, `${name}: ${lines} lines in patterns`);
  }
});

test.serial('lines that are pushed again change neither counts nor volumes nor statistics', async (t) => {
  const entries = Array.from({ length: 3000 }, (_none, index): Pushed => {
    const ns = base + BigInt(index + 1) * second;
    const metadata = { trace_id: `trace-${index * 7919}`, region: 'eu' };
    return { ns, stream: { app: 'twice' }, line: `request ${index} of a client that sends again`, metadata };
  });
  store.next();
  await store.push(entries);
  const asked = someProxies(0);
  const once = await Promise.all(asked.map(([, proxy]) => statistics(proxy, '{app="twice"}')));
  store.next();
  await store.push(entries);
  await store.push(entries);
  const twice = await Promise.all(asked.map(([, proxy]) => statistics(proxy, '{app="twice"}')));
  t.deepEqual(twice, once);
  for (const [turn, [query, wanted]] of (
    [
      ['sum(count_over_time({app="twice"}[1h]))', 3000],
      ['sum by (app) (count_over_time({app="twice"} | region="eu" [1h]))', 3000],
      [
        'sum(count_over_time({app="twice"} |= "17" [1h]))',
        entries.filter(({ line }) => line.includes('17')).length,
      ],
    ] as const
  ).entries())
    for (const [name, proxy] of someProxies(turn))
      t.deepEqual(Object.values(await store.values(proxy, query, at)), [wanted], `${name}: ${query}`);
  for (const { entries: count, bytes, volume } of once) {
    t.is(count, 3000);
    t.is(bytes, volume);
    // The lines; for each entry 8 bytes for each of two metadata pairs and 8 for the level; and each text once.
    const lines = entries.reduce((sum, { line }) => sum + line.length, 0);
    const texts = entries.reduce((sum, { metadata }) => sum + (metadata['trace_id']?.length ?? 0), 0);
    t.true(Math.abs(bytes - lines - 3 * 8 * 3000 - texts) < 1024 + 100, String(bytes));
  }
});

test.serial(
  'lines that come again with a label spelled otherwise change neither volumes nor statistics',
  async (t) => {
    const row = (index: number, spelled: string): Fields => ({
      ...{ _time: String(base + BigInt(index % 40) * second), app: 'spelled', [spelled]: 'pod-1' },
      ...{ [index % 5 === 0 ? 'event' : '_msg']: `request ${index} of a client that sends again` },
      trace_id: `trace-${index * 7919}`,
    });
    const rows = Array.from({ length: 60 }, (_none, index) => row(index, 'host.name'));
    store.next();
    await store.pushRows(['app', 'host.name'], rows);
    const once = await Promise.all(store.proxies.map(([, proxy]) => statistics(proxy, '{app="spelled"}')));
    store.next();
    await store.pushRows(['app', 'host.name'], [...rows, ...rows.slice(0, 10)]);
    await store.pushRows(
      ['app', 'host_name'],
      rows.map((_row, index) => row(index, 'host_name')),
    );
    const twice = await Promise.all(store.proxies.map(([, proxy]) => statistics(proxy, '{app="spelled"}')));
    t.deepEqual(twice, once);
    for (const { entries, streams, bytes, volume } of once) {
      t.is(entries, 60);
      t.is(streams, 1);
      t.is(bytes, volume);
      t.true(bytes > 0);
    }
  },
);

const entry: fc.Arbitrary<Pushed> = fc.record({
  ns: fc.constantFrom(0n, 1n, 1_000_000n, 5n * second, 14n * minute).map((ns) => base + 10n * minute + ns),
  stream: fc.constantFrom({ app: 'a' }, { app: 'b', level: 'warn' }),
  line: fc.constantFrom('same', 'same level=error', '{"n":1,"user":"x"}', '{"n":2.5,"user":"y"}'),
  metadata: fc.constantFrom<Pushed['metadata'][]>(
    {},
    { trace_id: 'x' },
    { trace_id: 'y' },
    { trace_id: 'x', took: '0.3' },
    { 'trace.id': 'x' },
    { took: '0.043' },
    { took: '19' },
    { level: 'info' },
    { app: 'other' },
  ),
});
/** Nearly equal entries; each may be pushed several times, and later again. */
const pushed = fc.record({
  entries: fc.array(entry, { minLength: 1, maxLength: 40 }),
  again: fc.array(fc.nat(39), { maxLength: 15 }),
  together: fc.constantFrom(1, 3, 100),
  filler: fc.constantFrom(0, 300),
});

const logQueries = [
  '{app=~".+"}',
  '{app="a"} | trace_id="x"',
  '{app=~"a|b"} != "error"',
  '{app=~".+"} | json | n > 1',
] as const;
const metricQueries = [
  'sum by (app) (count_over_time({app=~".+"}[20m]))',
  'sum by (trace_id, app) (count_over_time({app=~".+"} |= "same" [20m]))',
  'sum(count_over_time({app=~".+"} | trace_id="x" [20m]))',
  'count_over_time({app=~".+"}[20m])',
  'sum by (detected_level) (bytes_over_time({app=~".+"}[20m]))',
  'sum by (took) (rate({app=~".+"} != "error" [20m]))',
  'sum by (app) (count_over_time({app=~".+"} | json | drop __error__ [20m]))',
  'sum by (user) (sum_over_time({app=~".+"} | json | unwrap n | __error__="" [20m]))',
  'quantile_over_time(0.5, {app=~".+"} | json | unwrap n | __error__="" [20m]) by (app)',
  'max_over_time({app=~".+"} | unwrap took | __error__="" [20m]) by (trace_id)',
  'sum by (app) (sum_over_time({app=~".+"} | unwrap took | __error__="" [20m]))',
  'topk(2, sum by (line) (count_over_time({app=~".+"} | label_format line="{{__line__}}" [20m])))',
  'count(count_over_time({app=~".+"}[20m])) by (app)',
] as const;

test.serial('near repeats are told apart, and repeats found, whatever is asked and however', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(pushed, async ({ entries, again, together, filler }) => {
      store.next();
      const quiet = Array.from({ length: filler }, (_none, index): Pushed => {
        const ns = base + 5n * minute + BigInt(index) * second;
        return { ns, stream: { app: 'quiet' }, line: 'same', metadata: { trace_id: 'z' } };
      });
      const copies = again.flatMap((index) => entries[index] ?? []);
      await store.push([...quiet, ...entries, ...copies], together === 100 ? 1000 : together);
      const kept = distinct([...quiet, ...entries]);
      const [first, ...others] = store.proxies;
      if (first === undefined) throw new Error('there are no proxies');
      const plain = first[1];
      for (const [query, wanted] of expectations(kept))
        t.deepEqual(await store.values(plain, query, at), wanted, query);
      const all = await store.entries(plain, { query: '{app=~".+"}', ...range });
      t.is(all.length, kept.length);
      t.is(new Set(all.map((each) => entryKey(each))).size, all.length);
      for (const [, proxy] of store.proxies)
        t.is((await statistics(proxy, '{app=~".+"}')).entries, kept.length);
      for (const [turn, query] of logQueries.entries()) {
        const wanted = (await store.entries(plain, { query, ...range })).map((each) => entryKey(each)).sort();
        for (const [name, proxy] of spreadSample(others, 2, 1, turn)) {
          const found = await store.entries(proxy, { query, ...range });
          t.deepEqual(found.map((each) => entryKey(each)).sort(), wanted, `${name}: ${query}`);
        }
      }
      const over = { ...range, step: '300' };
      const asked = others.flatMap(([name, proxy]) => [at, over].map((when) => ({ name, proxy, when })));
      for (const [turn, query] of metricQueries.entries()) {
        const some = spreadSample(asked, 3, 1, turn);
        for (const when of new Set(some.map((one) => one.when))) {
          const wanted = rounded(await store.values(plain, query, when));
          for (const { name, proxy } of some.filter((one) => one.when === when))
            t.deepEqual(rounded(await store.values(proxy, query, when)), wanted, `${name}: ${query}`);
        }
      }
    }),
    { numRuns: Math.min(deepRuns(1, 3), 20) },
  );
});

/** Fields of OpenTelemetry records as the backend stores them; it has filled in some that Loki does not have. */
const record = fc.record({
  ns: fc.constantFrom(0n, 1n, 1_000_000n),
  _msg: fc.constantFrom('same', 'other'),
  'service.name': fc.constantFrom('shop', 'cart'),
  'host.name': fc.constantFrom('', 'node-1', 'node-2'),
  event_name: fc.constantFrom('', 'bought'),
  trace_id: fc.constantFrom('', '0'.repeat(32), 'ab'.repeat(16), 'cd'.repeat(16)),
  severity: fc.constantFrom(['0', 'Unspecified'], ['9', 'Info'], ['9', 'INFO'], ['', '']),
  'scope.name': fc.constantFrom('', 'unknown', 'lib'),
  'user.id': fc.constantFrom('', 'u1'),
  user_id: fc.constantFrom('', '', 'u1'),
  took: fc.constantFrom('', '0.3', '0.30000000000000004'),
});

test.serial('rows that are shown alike are one entry, whatever the backend has stored of them', async (t) => {
  t.timeout(300_000);
  const streamFields = ['service.name', 'host.name', 'event_name'];
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 1, maxLength: 150 }),
      fc.boolean(),
      async (records, isMuch) => {
        store.next();
        const rows = records.map(({ ns, severity: [number = '', text = ''], ...fields }) => ({
          ...fields,
          ...{ severity_number: number, severity_text: text },
          _time: String(base + 10n * minute + ns),
        }));
        // If many rows share times, the proxy uses other queries to find repeated entries.
        await store.pushRows(streamFields, isMuch ? [...rows, ...rows, ...rows] : rows);
        const query = '{service_name=~".+"}';
        for (const [name, proxy] of store.proxies) {
          const shown = await store.entries(proxy, { query, ...range });
          t.is(new Set(shown.map((each) => entryKey(each))).size, shown.length, name);
          const kept = sumBy(shown, ['service_name']);
          const counted = `sum by (service_name) (count_over_time(${query}[1h]))`;
          t.deepEqual(await store.values(proxy, counted, at), kept, name);
          const byTrace = `sum by (trace_id) (count_over_time(${query} != "other" [1h]))`;
          const same = shown.filter(({ line }) => line === 'same');
          t.deepEqual(await store.values(proxy, byTrace, at), sumBy(same, ['trace_id']), name);
          const every = `count(count_over_time(${query}[1h]))`;
          const labels = new Set(shown.map(({ stream, metadata }) => labelsKey({ ...metadata, ...stream })));
          t.deepEqual(await store.values(proxy, every, at), { '': labels.size }, name);
        }
      },
    ),
    { numRuns: Math.min(deepRuns(2, 4), 20) },
  );
});

const otlp = { severity_number: '9', 'host.name': 'node-1' };
/** Pairs of rows with equal times and lines that look the same to a client. */
const alike: readonly (readonly [Fields, Fields])[] = [
  [{ took: '0.3' }, { took: '0.30000000000000004' }],
  [{ 'user.id': 'u1' }, { user_id: 'u1' }],
  [{ detected_level: 'ERR' }, { detected_level: 'error' }],
  [{ ...otlp, span_id: '0'.repeat(16) }, otlp],
  [{ ...otlp, severity_text: 'Info' }, otlp],
  [{ ...otlp, 'scope.name': 'unknown' }, otlp],
];

test.serial('rows that are stored otherwise and shown alike are found among many near repeats', async (t) => {
  for (const [turn, [one, other]] of spreadSample(alike, 2).entries()) {
    store.next();
    const row = (ns: bigint, fields: Fields): Fields => ({
      ...{ app: 'a', _msg: 'same', ...fields },
      _time: String(base + 10n * minute + ns),
    });
    // Enough rows share times that the proxy first requests those with the same lines, and then those with the same fields.
    const near = Array.from({ length: 1600 }, (_none, n) =>
      row(BigInt(n % 800), { ...one, trace_id: `t${n}`, user_id: 'u2', took: '1' }),
    );
    await store.pushRows(['app', 'host.name'], [...near, row(1000n, one), row(1000n, other)]);
    for (const [name, proxy] of someProxies(turn)) {
      const told = `${name}: ${JSON.stringify([one, other])}`;
      const shown = await store.entries(proxy, { query: '{app="a"}', ...range });
      t.is(shown.length, near.length + 1, told);
      for (const query of [
        'sum(count_over_time({app="a"}[1h]))',
        'sum(count_over_time({app="a"} | took!="x" [1h]))',
      ])
        t.deepEqual(await store.values(proxy, query, at), { '': near.length + 1 }, told);
    }
  }
});
