import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { ApiError } from '../../../../../core/base/errors/api-error.js';
import { deepRuns } from '../../../../setup/runs.js';
import { MetricStore, rangeRequest, valuesOf } from '../metric-store.js';

type Fields = Readonly<Record<string, string>>;

const second = 1_000_000_000n;
const base = 1793491200000000001n;
let store: MetricStore;
let account = 96_000;

test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

/** A pseudo-field with the names of a row's stream fields, if they are not `app` and `env`. */
const streamFields = 'stream fields';

/** @param repeated number of rows that are pushed twice */
async function push(rows: readonly Fields[], repeated = 0): Promise<void> {
  account += 1;
  const timeOf = (n: number): string =>
    new Date(Number((base + BigInt(n) * 7n * second) / 1_000_000n)).toISOString();
  const timed = rows.map((row, n): Fields => ({ _time: timeOf(n), ...row }));
  const stored = [...timed, ...timed.slice(0, repeated)];
  const byFields = new Map<string, Fields[]>();
  for (const { [streamFields]: of = 'app env', ...row } of stored)
    byFields.set(of, [...(byFields.get(of) ?? []), row]);
  for (const [of, some] of byFields) await store.pushRows(account, some, of.split(' '));
}

interface Asked {
  /** The values of the answer, or the error message. */
  readonly values: unknown;
  /** Number of calls for whole rows. */
  readonly read: number;
  /** The last strategy that was tried, with its outcome. */
  readonly strategy?: string | undefined;
}

async function ask(text: string, pushdown: 'on' | 'off'): Promise<Asked> {
  const request = rangeRequest(text, base - 1n, base - 1n + 600n * second, 60n * second);
  let read = 0;
  try {
    const run = await store.run(request, {
      ...{ account, pushdown },
      asked: ({ pipes }) => {
        if (pipes.length === 0) read += 1;
      },
    });
    return { values: valuesOf(run.answer), read, strategy: run.tried.at(-1) };
  } catch (error) {
    if (error instanceof ApiError) return { values: error.message, read };
    throw error;
  }
}

const queries = [
  'sum by (app, detected_level) (count_over_time({app=~".+"}[60s]))',
  'sum by (level, detected_level) (count_over_time({app=~".+"} | drop __error__ [120s]))',
  'sum by (app) (bytes_over_time({app=~".+"}[60s]))',
  'sum(count_over_time({app=~".+"} |= "err" [60s]))',
  'sum by (app) (count_over_time({app=~".+"} |= "nerror" != "200" [60s]))',
  'sum by (env) (count_over_time({app=~".+"} |~ "note|zone" [60s]))',
  'sum by (detected_level) (rate({app=~".+"} != "warn" [60s]))',
  'sum by (app) (bytes_over_time({app=~".+"} |~ "(?i)don.t|<b>" [60s]))',
  'sum by (env) (count_over_time({app=~".+"} !~ `note":"[a-z ]*","status` [60s]))',
  'sum by (status, detected_level) (count_over_time({app=~".+"} | json | __error__="" [60s]))',
  'count_over_time({app=~".+"} != "zq" [60s])',
  'sum(count_over_time({app=~".+"} !~ "" [60s]))',
  'sum(count_over_time({app=~".+"} |~ "^$" [60s]))',
  'sum(count_over_time({app=~".+"} |~ ".*" != "warn" [60s]))',
  'sum by (status, detected_level) (count_over_time({app=~".+"} != "warn" | json | __error__="" [60s]))',
  'sum by (zone) (rate({app=~".+"} |= "it" | json | status >= 300 | drop __error__, __error_details__ [60s]))',
  'avg_over_time({app=~".+"} | json | unwrap ratio | __error__="" [120s]) by (zone)',
  'quantile_over_time(0.5, {app=~".+"} |= "a" != "warn" | json | unwrap ratio | __error__="" [120s]) by (zone)',
  'sum by (app, __rebuilt) (sum_over_time({app=~".+"} | json | drop __error__ | unwrap ratio [60s]))',
  'max_over_time({app=~".+"} | json | unwrap ratio [60s]) by (app)',
  'stddev_over_time({app=~".+"} | unwrap ratio [120s]) by (app)',
  'sum by (_, __rebuilt) (count_over_time({app=~".+"} | json | drop __error__, __error_details__ [60s]))',
  'sum by (st, detected_level) (count_over_time({app=~".+"} | json st="status", nested="status.code" | __error__="" [60s]))',
  'sum by (e, nested) (count_over_time({app=~".+"} | json e="env", nested="trace.id", t="[\\"trace.id\\"]" | t!="" | __error__="" [60s]))',
  'avg_over_time({app=~".+"} | json r="ratio", z="zone" | unwrap r | __error__="" [120s]) by (z)',
  'sum by (same) (sum_over_time({app=~".+"} | json r="status", same="status" | unwrap r | __error__="" [60s]))',
  'max_over_time({app=~".+"} | json r="status.code" | drop __error__ | unwrap r | __error__="" [60s]) by (app)',
  'absent_over_time({app="a"} |= "error" | json | status="200" [60s])',
];

const value = fc.oneof(
  fc.constantFrom('', 'error', 'it is a Warning', 'x-error-y', "don't", '<b>', '\\u003c', "\\'", '{}', '200'),
  fc.constantFrom(
    'cr\u0130tical',
    'a\nerror',
    '"info"',
    '\u00fcber',
    'debug and fatal',
    'TRACE:',
    'inferred',
    '500',
  ),
);
const names = [
  'note',
  'status',
  'error',
  'trace.id',
  'level',
  'log.level',
  'Warn',
  'it"s',
  '9th',
  'env',
  'zone',
];
const anyRow = fc
  .record({
    app: fc.constantFrom('a', 'b'),
    env: fc.constantFrom('', '', 'prod'),
    of: fc.constantFrom('app env', 'app env', 'app', 'app zone', 'app env zone'),
    line: fc.constantFrom('', '', '', 'a line', '{"status":"500","level":"error"}'),
    own: fc.oneof(
      { weight: 1, arbitrary: fc.constant({}) },
      {
        weight: 3,
        arbitrary: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4, noNullPrototype: true }),
      },
    ),
  })
  .map(({ app, env, of, line, own }): Fields => ({
    ...{ app, env, ...own, [streamFields]: of },
    ...(line === '' ? {} : { _msg: line }),
  }));

const withoutLine = anyRow.map((row): Fields => ({ ...row, _msg: '' }));
const anyRows = fc.oneof(
  ...[anyRow, withoutLine].map((row) => fc.array(row, { minLength: 1, maxLength: 40 })),
);

test.serial('rows without a line are counted by rebuilt lines as they are counted when read', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(anyRows, async (rows) => {
      await push(rows, 2);
      for (const text of queries) {
        const { values } = await ask(text, 'off');
        for (const time of ['at first', 'again'])
          t.deepEqual((await ask(text, 'on')).values, values, `${text} ${time}`);
      }
    }),
    { numRuns: deepRuns(4, 10) },
  );
});

const wide = Array.from({ length: 60 }, (_, n): Fields => ({
  ...{ app: 'a', 'trace.id': `${n * 7919}`, error: n % 5 === 0 ? 'yes' : '' },
  ...{ note: ['all is well', "don't warn", '<b>'][n % 3] ?? '', duration: String(n) },
}));

/** Checks the answers of queries, and that no whole row is read for those that count rebuilt lines. */
async function compareCounted(t: ExecutionContext, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const { values } = await ask(text, 'off');
    await ask(text, 'on');
    const again = await ask(text, 'on');
    t.deepEqual(again.values, values, text);
    if (!/json|unwrap|\^\$/.test(text)) t.is(again.read, 0, text);
  }
}

test.serial('no row is read where the backend can rebuild lines', async (t) => {
  await push(wide);
  await compareCounted(t, queries);
});

test.serial('a field of a row that is a label of other streams is in the line', async (t) => {
  const zoneClashes: readonly Fields[] = [
    { env: 'prod', zone: 'error' },
    { env: 'dev', zone: 'warn' },
    { zone: 'z1', [streamFields]: 'app zone' },
  ];
  const bothClash: readonly Fields[] = [
    { env: 'error', [streamFields]: 'app' },
    { env: 'dev', zone: 'z1', [streamFields]: 'app zone' },
  ];
  for (const clashing of [zoneClashes, [...zoneClashes, ...bothClash]]) {
    await push(wide.map((row, n): Fields => ({ ...row, ...clashing[n % (clashing.length + 1)] })));
    await compareCounted(t, [
      ...queries,
      'sum by (env, detected_level) (count_over_time({app="a"} != "zq" [60s]))',
      'sum by (env, zone) (bytes_over_time({app="a"} |= "error" [60s]))',
      'sum by (env, zone, detected_level) (count_over_time({app="a"} != "zq" | json | __error__="" [60s]))',
    ]);
  }
});

test.serial('texts are found in values of every type in which the backend stores them', async (t) => {
  await push(
    Array.from({ length: 80 }, (_, n): Fields => ({
      ...{ app: 'a', small: String(n), large: String(n * 79_190_017), signed: String(n - 40) },
      ...{ ratio: (n / 8).toFixed(3), tiny: `0.${'0'.repeat(n % 9)}${n + 1}`, address: `10.0.${n}.${n * 3}` },
      ...{ at: new Date(1793491200000 + n * 1001).toISOString(), kind: n % 2 === 0 ? 'even' : 'odd' },
      ...{ mixed: n % 3 === 0 ? String(n) : `v${n}`, same: '17' },
    })),
  );
  const texts = [
    '7',
    '17',
    '-1',
    '0.5',
    '.125',
    '00',
    '10.0.1',
    '0.7.2',
    '2026-1',
    ':01.',
    'Z',
    'v7',
    'even',
  ];
  await compareCounted(
    t,
    texts.flatMap((text) =>
      ['|=', '!='].map((op) => `sum by (app) (count_over_time({app="a"} ${op} "${text}" [120s]))`),
    ),
  );
  const gathered = 'max_over_time({app="a"} |= "17" | json | unwrap ratio [120s]) by (kind)';
  const { values } = await ask(gathered, 'off');
  const answer = await ask(gathered, 'on');
  t.deepEqual(answer.values, values);
  t.is(answer.strategy, 'value-groups:ran');
});

test.serial('a field of the stream is in no line', async (t) => {
  await push(wide.map((row, n): Fields => ({ ...row, ...(n % 2 === 0 ? { env: 'prod' } : {}) })));
  for (const labels of ['env', 'env, env_extracted']) {
    const text = `sum by (${labels}) (count_over_time({app="a"} | json [60s]))`;
    const { values } = await ask(text, 'off');
    const counted = await ask(text, 'on');
    t.deepEqual(counted.values, values, labels);
    // For labels with a suffix, rows are read.
    t.regex(counted.strategy ?? '', labels === 'env' ? /^statistics:ran$/ : /rows:ran$/, labels);
  }
});

test.serial('fields and streams that came since the last query are in the lines', async (t) => {
  const text = 'sum by (app, detected_level) (bytes_over_time({app=~".+"}[60s]))';
  await push(wide);
  await ask(text, 'on');
  for (const added of [
    { app: 'a', came: 'an error later' },
    { app: 'c', note: 'warn' },
    { app: 'a', env: 'prod', zone: 'z' },
    { app: 'a', zone: 'y', env: '' },
  ]) {
    await store.pushRows(
      account,
      [{ _time: new Date(1793491260000).toISOString(), ...added }],
      ['app', 'env'],
    );
    const { values } = await ask(text, 'off');
    t.deepEqual((await ask(text, 'on')).values, values, JSON.stringify(added));
  }
});

test.serial(
  'rows whose lines would make the query too long for the backend are read beside the count',
  async (t) => {
    const long = wide.map((row, n): Fields => ({
      ...row,
      ...Object.fromEntries(
        Array.from({ length: 300 }, (_, at) => [`a_field_with_a_long_name_${at}`, `${n}`]),
      ),
    }));
    await push(long);
    const text = 'sum by (app) (bytes_over_time({app=~".+"}[60s]))';
    const { values } = await ask(text, 'off');
    t.is(typeof values, 'object');
    await ask(text, 'on');
    const again = await ask(text, 'on');
    t.deepEqual(again.values, values);
    t.is(again.strategy, 'statistics:ran');
    t.true(again.read > 0);
  },
);

test.serial('lines that the backend writes ambiguously are read', async (t) => {
  const text = 'sum by (app) (bytes_over_time({app="a"}[60s]))';
  for (const note of ['a \\u003c', 'it\\u0027s']) {
    await push([...wide, { app: 'a', note }]);
    const { values } = await ask(text, 'off');
    await ask(text, 'on');
    const again = await ask(text, 'on');
    t.deepEqual(again.values, values, note);
    t.true(again.read > 0, note);
  }
});

test.serial('fields whose names begin with underscores are labels of rebuilt lines', async (t) => {
  await push(
    wide.map((row, n): Fields => ({
      ...row,
      __line: String(n),
      _size: String(2 * n),
      __error_details__: 'x',
    })),
  );
  for (const [name, aggregation] of [
    ['__line', 'avg_over_time'],
    ['__line', 'last_over_time'],
    ['_size', 'max_over_time'],
  ] as const) {
    const text = `${aggregation}({app=~".+"} | json | unwrap ${name} [60s]) by (app)`;
    const { values } = await ask(text, 'off');
    t.true(Object.keys(values ?? {}).length > 0, text);
    t.deepEqual((await ask(text, 'on')).values, values, text);
  }
});

test.serial('an empty line is a JSON error even where only some columns are read', async (t) => {
  const text = 'avg_over_time({app=~".+"} | json | unwrap app [60s]) by (note)';
  const rows = wide.map((row): Fields => ({ ...row, app: '0.5' }));
  for (const all of [rows, [...rows, { app: '0.5' }]]) {
    await push(all);
    const { values } = await ask(text, 'off');
    t.is(typeof values, all === rows ? 'object' : 'string');
    t.deepEqual((await ask(text, 'on')).values, values);
  }
});

test.serial('an empty line that was pushed twice counts once where only some columns are read', async (t) => {
  const text =
    'avg_over_time({app=~".+"} | json | drop __error__, __error_details__ | unwrap app [60s]) by (note)';
  await push([{ app: '3' }, ...wide.map((row): Fields => ({ ...row, note: '', app: '0.5' }))], 1);
  const { values } = await ask(text, 'off');
  for (const time of ['at first', 'again']) t.deepEqual((await ask(text, 'on')).values, values, time);
});

test.serial('rows of which few columns are read count once where they were pushed twice', async (t) => {
  const rows = wide.map((row, n): Fields => ({ ...row, ratio: String(n / 10) }));
  for (const all of [rows, [...rows, { app: 'a' }]]) {
    await push(all, 40);
    for (const text of [
      'sum by (app) (sum_over_time({app="a"} | json | unwrap ratio [60s]))',
      'avg_over_time({app="a"} | json | unwrap ratio | __error__="" [120s]) by (note)',
      'avg_over_time({app="a"} | json | unwrap ratio | __error__="" [120s]) by (app, __rebuilt)',
    ]) {
      const { values } = await ask(text, 'off');
      for (const time of ['at first', 'again'])
        t.deepEqual((await ask(text, 'on')).values, values, `${text} ${time}`);
    }
  }
});
