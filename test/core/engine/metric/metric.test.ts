import test from 'ava';
import fc from 'fast-check';
import {
  forStored,
  instantRequest,
  MetricStore,
  rangeRequest,
  storedFromNs as base,
  valuesOf,
  type StoredEntry,
} from './metric-store.js';
import { deepRuns } from '../../../setup/runs.js';

const second = 1_000_000_000n;

let store: MetricStore;
let account = 100;

test.before(async () => {
  store = await MetricStore.open();
});

test.after.always(async () => {
  await store.close();
});

const streams = [
  { app: 'a', env: 'x', level: 'error' },
  { app: 'a', env: 'y' },
  { job: 'j', env: 'x' },
] as const;

/** Names that have been used for results of statistics. */
const namesOfResults = { value: '1', rows: '2', different: 'a', missing: '0', odd: '1', value_: 'b' };
/** Names of properties that every JavaScript object has. */
const namesOfObjects = { constructor: 'f', toString: 'v' };
const metadata = [
  {},
  { severity: 'info' },
  { 'trace.id': 'abc' },
  { team: 'red' },
  namesOfResults,
  namesOfObjects,
];

/** Few times and lines, so that rows share them; an empty line is stored as none. Rows pushed twice are equal in every field. */
const entries: fc.Arbitrary<readonly StoredEntry[]> = fc.array(
  fc
    .tuple(
      fc.integer({ min: 0, max: 600 }),
      fc.constantFrom(...streams),
      fc.constantFrom('level=warn x', 'an error', 'plain', 'größe', ''),
    )
    .map(([at, stream, line]) => ({
      ns: base + BigInt(at) * second,
      stream,
      line,
      metadata: metadata[(at + line.length) % metadata.length] ?? {},
    })),
  { maxLength: 60 },
);

const queries = [
  'count_over_time({env=~".+"}[RANGE])',
  'rate({env=~".+"} |= "r" | app="a" [RANGE])',
  'sum without (app) (bytes_over_time({env=~".+"} | drop level [RANGE]))',
  'sum(count_over_time({env=~".+"}[RANGE]))',
  'sum by (app) (rate({env="x"}[RANGE] offset 1m))',
  'sum by (env) (bytes_over_time({env=~".+"} |= "r" [RANGE]))',
  'sum by (service_name, level) (bytes_rate({env=~".+"}[RANGE]))',
  'sum by (level, detected_level) (count_over_time({env=~".+"} | drop __error__ [RANGE]))',
  'sum by (env) (count_over_time({env=~".+"} | detected_level="warn" [RANGE]))',
  'sum by (detected_level, trace_id, team) (count_over_time({env=~".+"} != "plain" [RANGE]))',
  'absent_over_time({env="y"}[RANGE])',
  'max(sum by (app) (count_over_time({env=~".+"} | app="a" [RANGE])))',
];

test.serial('the backend’s counts and rows give the same answers', async (t) => {
  t.timeout(120_000);
  const nextAccount = (): number => (account += 1);
  await forStored(store, entries, queries, deepRuns(2, 3), nextAccount, async (request, own, text) => {
    const on = valuesOf((await store.run(request, { account: own })).answer);
    const off = valuesOf((await store.run(request, { account: own, pushdown: 'off' })).answer);
    t.deepEqual(rounded(on), rounded(off), text);
  });
});

function rounded(values: Record<string, number>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.toPrecision(12)]));
}

const templates: readonly ((n: number) => string)[] = [
  (n) => `{"ts":"2026-11-01T00:00:${n}Z","level":"info","n":${n}}`,
  (n) => `{"ts":${n},"level":"warn","http":{"level":"error"}}`,
  (n) => `{"http":{"level":"error"},"level":"info","n":${n}}`,
  (n) => `{"severity":"warn","n":${n},"level":"debug"}`,
  (n) => `{"level":"info","n":${n}`,
  (n) => `ts=${n} level=info msg="an error"`,
  (n) => `ts=${n} level=odd msg="an error"`,
  (n) => `n=${n} msg="level=error " level=info n=1`,
  (n) => `[ERROR] ${n} times`,
  (n) => `${n} of 12TRACE`,
  (n) => `nothing ${n}`,
];

/** Lines of several programs that differ only in numbers; metadata may be named like a label of the stream. */
const alike: fc.Arbitrary<readonly StoredEntry[]> = fc
  .uniqueArray(fc.constantFrom(...templates), { minLength: 1, maxLength: 4 })
  .chain((kinds) =>
    fc.array(
      fc.tuple(
        fc.integer({ min: 0, max: 600 }),
        fc.constantFrom(...streams),
        fc.constantFrom(...kinds),
        fc.integer({ min: 1, max: 99 }),
        fc.constantFrom({}, {}, { env: 'y' }, { team: 'red' }),
      ),
      { minLength: 40, maxLength: 150 },
    ),
  )
  .map((made) =>
    made.map(([at, stream, line, n, fields]) => ({
      ns: base + BigInt(at) * second,
      stream,
      line: line(n),
      metadata: at % 5 === 0 ? fields : {},
    })),
  );

const levelQueries = [
  'count_over_time({env=~".+"} | drop __error__ [RANGE])',
  'rate({app="a"} | detected_level!="warn" [RANGE])',
  'sum by (level, detected_level) (count_over_time({env=~".+"} | drop __error__ [RANGE]))',
  'sum by (detected_level, env) (bytes_over_time({env=~".+"} != "of" [RANGE]))',
  'sum by (service_name) (count_over_time({env=~".+"} | detected_level=~"info|error" [RANGE]))',
  'sum by (env, env_extracted) (count_over_time({app="a"}[RANGE]))',
];

test.serial('levels counted by what lines begin with are those of the lines', async (t) => {
  t.timeout(120_000);
  await fc.assert(
    fc.asyncProperty(alike, fc.integer({ min: 20, max: 200 }), async (stored, range) => {
      account += 1;
      await store.push(account, stored);
      for (const text of levelQueries) {
        const asked = text.replace('RANGE', `${range}s`);
        const request = rangeRequest(asked, base, base + 600n * second, 30n * second);
        const on = await store.run(request, { account });
        const off = await store.run(request, { account, pushdown: 'off' });
        t.deepEqual(rounded(valuesOf(on.answer)), rounded(valuesOf(off.answer)), asked);
      }
    }),
    { numRuns: deepRuns(2, 3) },
  );
});

test.serial(
  'a line pushed again with other metadata is a series of its own, and one pushed with the same adds nothing',
  async (t) => {
    account += 1;
    const entry = { ns: base + second, stream: { app: 'a' }, line: 'x level=error y' };
    const red = { ...entry, metadata: { team: 'red' } };
    await store.push(account, [red, entry, red, entry]);
    for (const text of ['count_over_time({app="a"}[10s])', 'sum by (team) (bytes_rate({app="a"}[10s]))']) {
      const request = rangeRequest(text, base, base + 20n * second, second);
      const on = valuesOf((await store.run(request, { account })).answer);
      t.deepEqual(on, valuesOf((await store.run(request, { account, pushdown: 'off' })).answer), text);
      t.is(new Set(Object.keys(on).map((key) => key.split('@')[0])).size, 2, text);
      t.is(new Set(Object.values(on)).size, 1, text);
    }
  },
);

test.serial('values with broken bytes are found by the spaces that are shown for them', async (t) => {
  account += 1;
  const values = ['red\ufffdhot', 'red hot', 'redhot', 'red\ufffd'];
  await store.push(
    account,
    values.map((team, index) => ({
      ns: base + BigInt(index),
      stream: { app: 'a' },
      line: 'x',
      metadata: { team },
    })),
  );
  const found = async (filter: string): Promise<Readonly<Record<string, number>>> => {
    const text = `sum by (team) (count_over_time({app="a"} | team${filter} [10s]))`;
    const request = instantRequest(text, base + second);
    const on = valuesOf((await store.run(request, { account })).answer);
    t.deepEqual(on, valuesOf((await store.run(request, { account, pushdown: 'off' })).answer), filter);
    return Object.fromEntries(
      Object.entries(on).map(([key, value]): [string, number] => [key.split('@')[0] ?? '', value]),
    );
  };
  const [hot, together, red] = ['{"team":"red hot"}', '{"team":"redhot"}', '{"team":"red "}'];
  t.deepEqual(await found('="red hot"'), { [hot]: 2 });
  t.deepEqual(await found('=~"red hot|redhot"'), { [hot]: 2, [together]: 1 });
  t.deepEqual(await found('=~"re.\\\\sh.t"'), { [hot]: 2 });
  t.deepEqual(await found('=~".*d h.*"'), { [hot]: 2 });
  t.deepEqual(await found('="red\ufffdhot"'), {});
  t.deepEqual(await found('!="red\ufffdhot"'), { [hot]: 2, [together]: 1, [red]: 1 });
  t.deepEqual(await found('!="red hot"'), { [together]: 1, [red]: 1 });
  t.deepEqual(await found('!~"red\ufffd.*"'), { [hot]: 2, [together]: 1, [red]: 1 });
});

test.serial(
  'streams that came since a selection was counted are counted, whatever labels they bring',
  async (t) => {
    account += 1;
    const request = rangeRequest(
      'sum by (team, app) (count_over_time({env="x"}[10s]))',
      base,
      base + 20n * second,
      second,
    );
    const counts: number[] = [];
    for (const [at, labels] of [
      { app: 'a' },
      { app: 'b' },
      { team: 'red' },
      { app: 'a', team: 'blue' },
    ].entries()) {
      await store.push(account, [
        { ns: base + second * BigInt(at), stream: { env: 'x', ...labels }, line: 'y' },
      ]);
      for (let again = 0; again < 2; again += 1) {
        const on = valuesOf((await store.run(request, { account })).answer);
        t.deepEqual(on, valuesOf((await store.run(request, { account, pushdown: 'off' })).answer));
        counts.push(new Set(Object.keys(on).map((key) => key.split('@')[0])).size);
      }
    }
    t.deepEqual(counts, [1, 1, 2, 2, 3, 3, 4, 4]);
  },
);

test.serial('lines that begin alike are not sent for their levels', async (t) => {
  account += 1;
  const stored = Array.from({ length: 200 }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a' },
    line: n % 4 === 0 ? `{"n":${n},"level":"error","msg":"info ${n}"}` : `ts=${n} level=info msg=x${n}`,
  }));
  await store.push(account, stored);
  const request = rangeRequest(
    'sum by (detected_level) (count_over_time({app="a"}[100s]))',
    base + 99n * second,
    base + 199n * second,
    100n * second,
  );
  await store.run(request, { account });
  const { answer, calls } = await store.run(request, { account });
  t.deepEqual(valuesOf(answer), valuesOf((await store.run(request, { account, pushdown: 'off' })).answer));
  t.true(calls.reduce((sum, { rows }) => sum + rows, 0) < 20);
});

test.serial('an entry that was pushed twice counts once, also where the backend counts', async (t) => {
  account += 1;
  const twice = { ns: base + second, stream: streams[0], line: 'same' };
  await store.push(account, [twice, twice, { ...twice, line: 'other' }, { ...twice, stream: streams[1] }]);
  const request = instantRequest('sum by (env) (count_over_time({app="a"}[10s]))', base + 2n * second);
  const { answer, calls } = await store.run(request, { account });
  t.deepEqual(valuesOf(answer), { '{"env":"x"}': 2, '{"env":"y"}': 1 });
  t.true(calls.some(({ type }) => type === 'stats_query'));
});

test.serial('what was found out about an hour is forgotten when rows come in', async (t) => {
  account += 1;
  const once = { ns: base + second, stream: streams[0], line: 'same' };
  await store.push(account, [once]);
  const request = instantRequest('sum(count_over_time({app="a"}[2h]))', base + 3600n * second);
  const first = await store.run(request, { account });
  const again = await store.run(request, { account });
  const looks = ({ calls }: typeof first): number => calls.filter(({ type }) => type === 'query').length;
  t.true(looks(again) < looks(first));
  await store.push(account, [once]);
  const repeated = await store.run(request, { account });
  for (const { answer } of [first, again, repeated]) t.deepEqual(valuesOf(answer), { '{}': 1 });
});

test.serial(
  'what the backend counts is not sent as rows, and the statistics tell how much it was',
  async (t) => {
    account += 1;
    const many = Array.from({ length: 500 }, (_none, index): StoredEntry => {
      return {
        ns: base + BigInt(index) * second,
        stream: streams[index % 2] ?? streams[0],
        line: `line ${index}`,
      };
    });
    await store.push(account, many);
    const request = rangeRequest(
      'sum by (env) (rate({app="a"}[1m]))',
      base,
      base + 500n * second,
      20n * second,
    );
    const { answer, calls } = await store.run(request, { account });
    t.true(calls.some(({ type }) => type === 'stats_query_range'));
    // Two groups at 28 instants, and their streams and names.
    t.true(calls.reduce((sum, { rows }) => sum + rows, 0) < 80);
    t.is(answer.kind === 'matrix' ? answer.stats.linesProcessed : 0, 500);
    const rows = await store.run(request, { account, pushdown: 'off' });
    const stats = rows.answer.kind === 'matrix' ? rows.answer.stats : undefined;
    t.is(stats?.linesProcessed, 500);
    t.is(
      stats?.bytesProcessed,
      many.reduce((sum, { line }) => sum + line.length, 0),
    );
  },
);

test.serial(
  'more rows than the limit are refused where rows are needed, and counted where not',
  async (t) => {
    account += 1;
    const rows = Array.from({ length: 20 }, (_none, index): StoredEntry => {
      return { ns: base + BigInt(index), stream: streams[1], line: `plain ${index}` };
    });
    await store.push(account, rows);
    const read = instantRequest(
      'sum(count_over_time({app="a"} | logfmt --strict | x="" [1m]))',
      base + second,
    );
    await t.throwsAsync(store.run(read, { account, maxRows: 19 }), {
      message: 'manual range metric row limit exceeded',
    });
    t.deepEqual(valuesOf((await store.run(read, { account, maxRows: 20 })).answer), { '{}': 20 });
    const hour = 3_600n * second;
    const long = rangeRequest(
      'sum(count_over_time({app="a"} | logfmt --strict | x="" [1m]))',
      base - 6n * hour,
      base + hour,
      hour,
    );
    await t.throwsAsync(store.run(long, { account, maxRows: 19 }), {
      message:
        'manual range metric row limit exceeded (19); the query matches 20 log lines; narrow the query or increase -manual-range-metric-row-limit',
    });
    const counted = instantRequest('sum(count_over_time({app="a"}[1m]))', base + second);
    t.deepEqual(valuesOf((await store.run(counted, { account, maxRows: 19 })).answer), { '{}': 20 });
  },
);

test.serial('a query whose client went away ends without asking further', async (t) => {
  account += 1;
  await store.push(account, [{ ns: base, stream: streams[1], line: 'x' }]);
  const gone = new AbortController();
  const request = instantRequest('sum(count_over_time({app="a"} | logfmt [1m]))', base + second);
  gone.abort(new Error('gone'));
  const error = await t.throwsAsync(store.run(request, { account, signal: gone.signal }));
  t.truthy(error);
});

test.serial(
  'too many series are an error, or a part of them with a warning for Logs Drilldown',
  async (t) => {
    account += 1;
    const pods = ['1', '2', '3'].map((pod): StoredEntry => ({ ns: base, stream: { pod }, line: 'x' }));
    await store.push(account, pods);
    const request = instantRequest('sum by (pod) (count_over_time({pod=~".+"}[1m]))', base + second);
    await t.throwsAsync(store.run(request, { account, limits: { maxSeries: 2 } }), {
      message: /^maximum number of series \(2\) reached for a single query; consider/,
    });
    const { answer } = await store.run(request, { account, limits: { maxSeries: 2, isPartial: true } });
    t.is(Object.keys(valuesOf(answer)).length, 2);
    t.deepEqual(answer.kind === 'vector' ? answer.warnings : [], [
      'maximum number of series (2) reached for a single query; returning partial results',
    ]);
  },
);

test.serial('an error of an entry names all of its labels, whatever the query sees of them', async (t) => {
  account += 1;
  await store.push(account, [{ ns: base, stream: streams[1], line: 'x=abc', metadata: { team: 'red' } }]);
  const request = instantRequest(
    'sum by (env) (sum_over_time({app="a"} | logfmt | unwrap x [1m]))',
    base + second,
  );
  await t.throwsAsync(store.run(request, { account }), { message: /team="red"/ });
});
