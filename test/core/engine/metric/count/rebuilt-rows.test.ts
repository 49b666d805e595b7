import test from 'ava';
import fc from 'fast-check';
import { deepRuns, spreadSample } from '../../../../setup/runs.js';
import { valuesOf, type StoredEntry } from '../metric-store.js';
import { base, second } from './json-lines.js';
import { LineStore } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(80_000);
});
test.after.always(() => store.close());

const values = [
  '',
  '200',
  '500',
  '5e2',
  '1_000',
  'ten',
  'GET',
  'error',
  'Warn',
  'fehler',
  'it is an error',
  'é\n"',
];
const fieldNames = ['status', 'app', 'team', 'user.id', 'user_id', 'level', 'severity', 'log.level', 'Level'];
const anyRow: fc.Arbitrary<StoredEntry> = fc.record({
  ns: fc.integer({ min: 1, max: 300_000 }).map((ms) => base + BigInt(ms) * 1_000_000n),
  stream: fc.oneof(
    fc.constant({ app: 'a' }),
    fc.constant({ app: 'b', level: 'warn' }),
    fc.constant({ app: 'd', level: 'fehler' }),
    fc.constant({ app: 'c', team: 't', status: '7' }),
  ),
  line: fc.constant(''),
  metadata: fc.dictionary(fc.constantFrom(...fieldNames), fc.constantFrom(...values), { maxKeys: 4 }),
});

const queries = [
  'sum(count_over_time({app=~".+"} | json [120s]))',
  'sum by (status) (count_over_time({app=~".+"} | json [60s]))',
  'sum by (app, status_extracted) (rate({app=~".+"} | json | status_extracted!="" [60s]))',
  'sum by (user_id) (count_over_time({app=~".+"} | json | status >= 500 | __error__="" [60s] offset 1s))',
  'sum by (app) (count_over_time({app=~".+"} | json | status >= 500 [60s]))',
  'sum by (detected_level, app) (count_over_time({app=~".+"}[60s]))',
  'sum by (detected_level) (count_over_time({app=~".+"} | json | drop __error__ | detected_level!="info" [60s]))',
  'sum by (level, team) (count_over_time({app=~".+"} | json | keep level, team [90s]))',
  'sum without () (count_over_time({app="a"} | json | keep status [60s]))',
  'count_over_time({app="a"} [60s])',
  'absent_over_time({app="a"} | json | status="200" [60s])',
  'quantile_over_time(0.7, {app=~".+"} | json | unwrap status | __error__="" [60s]) by (user_id)',
  'max by (app) (max_over_time({app=~".+"} | json | unwrap status_code | app!="b" [60s]))',
  'min_over_time({app="a"} | json | drop __error__ | unwrap user_id [90s]) by (app)',
  'quantile_over_time(0.7, {app=~".+"} | json | unwrap user_id | __error__="" [60s]) by (app, team, status_extracted)',
  'max_over_time({app=~".+"} | json | unwrap user_id | __error__="" [60s]) by (status)',
  'sum by (app) (sum_over_time({app=~".+"} | json | unwrap user_id | __error__="" [60s]))',
];

const anyLine: fc.Arbitrary<StoredEntry> = anyRow.map((row) => ({
  ...row,
  line: '{"status":"500","level":"error"}',
}));

test.serial('rows without a line are counted by their fields as their rebuilt lines are', async (t) => {
  t.timeout(300_000);
  const rowsOnly = fc.array(anyRow, { minLength: 1, maxLength: 40 });
  const mixed = fc.array(fc.oneof(anyRow, anyLine), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.oneof(rowsOnly, mixed), async (stored) => {
      await store.push([...stored, ...stored.slice(0, 3)]);
      for (const text of queries)
        t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), text);
    }),
    { numRuns: deepRuns(3, 6) },
  );
});

function rows(count: number): readonly StoredEntry[] {
  return Array.from({ length: count }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a', pod: `pod-${n % 3}` },
    line: '',
    metadata: {
      status: n % 10 === 0 ? '500' : '200',
      level: n % 7 === 0 ? 'error' : 'info',
      took: String(n),
    },
  }));
}

test.serial('no row is read where fields show all that is asked, and lines end that', async (t) => {
  await store.push(rows(290));
  for (const text of [
    'quantile_over_time(0.9, {app="a"} | json | unwrap took [60s]) by (pod)',
    'sum by (app, status) (sum_over_time({app="a"} | json | unwrap took [60s]))',
  ]) {
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), text);
    t.is((await store.tried(text)).at(-1), 'value-groups:ran', text);
  }
  for (const text of [
    'sum by (status) (count_over_time({app="a"} | json [60s]))',
    'sum by (detected_level) (count_over_time({app="a"}[60s]))',
    'sum(count_over_time({app="a"} | json | status >= 500 [60s]))',
  ]) {
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), text);
    t.deepEqual(await store.tried(text), ['statistics:ran'], text);
    const { calls } = await store.run(text);
    t.true(calls.reduce((sum, { rows: read }) => sum + read, 0) < 60, text);
  }
  await store.push([...rows(20), { ns: base + second, stream: { app: 'a' }, line: '{"status":"7"}' }]);
  const text = 'sum by (status) (count_over_time({app="a"} | json [60s]))';
  t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'));
  t.regex((await store.tried(text)).at(-1) ?? '', /rows:ran$/);
});

/** Lines of JSON, mixed with rows without a line whose fields depend on their position. */
function besideLines(fieldsOf: (n: number) => Readonly<Record<string, string>>): readonly StoredEntry[] {
  return rows(290).map((row, n) => {
    if (n % 6 === 0) return { ...row, metadata: fieldsOf(n) };
    const line = JSON.stringify({ ...row.metadata, level: n % 5 === 0 ? 'warn' : 'info' });
    // Some rows with a line have a level in their metadata, and a different one in a line that resembles no other.
    if (n % 60 !== 1) return { ...row, line, metadata: {} };
    return { ...row, line: String.raw`an error, warn lvl="in\u0066o" ${n}`, metadata: { level: 'debug' } };
  });
}

const ofLevels = [
  'sum by (detected_level) (count_over_time({app="a"}[60s]))',
  'sum by (pod, level, detected_level) (count_over_time({app="a"} | drop __error__ [60s]))',
];
const ofLines = [
  'sum by (status) (count_over_time({app="a"} | json | __error__="" [60s]))',
  'sum by (status, level, detected_level) (rate({app="a"} | json | __error__="" [60s]))',
];

test.serial('rows without a line are counted in the same call as those with one', async (t) => {
  const stored = besideLines((n) => ({
    status: n % 12 === 0 ? '500' : '201',
    level: n % 18 === 0 ? 'Warn' : 'error',
    n: String(n),
  }));
  await store.push([...stored, ...stored.slice(30, 50)]);
  for (const text of [...ofLevels, ...ofLines]) {
    const wanted = await store.outcome(text, 'off');
    // The first request reads a sample, the second one inspects lines.
    for (const most of [Infinity, Infinity, 90]) {
      const { answer, calls, tried: ways } = await store.run(text);
      t.deepEqual(valuesOf(answer), wanted, text);
      t.is(ways.at(-1), 'statistics:ran', text);
      const read = calls.filter(({ path }) => path.endsWith('/query'));
      if (most !== Infinity) t.is(read.length, 2, text);
      t.true(calls.reduce((sum, call) => sum + call.rows, 0) < most, text);
    }
  }
});

test.serial(
  'rows without a line of which fields do not tell enough are read beside the others',
  async (t) => {
    const notes = ['it is an error', 'warn of it', 'nothing'];
    const fields = [
      (n: number) => ({
        status: '500',
        ...(n % 4 === 0 ? { level: 'fehler' } : {}),
        note: notes[n % 3] ?? '',
      }),
      (n: number) => (n % 12 === 0 ? {} : { status: '500', level: 'info', note: notes[n % 3] ?? '' }),
      (n: number) => ({ note: notes[n % 3] ?? '' }),
    ];
    const asked = (turn: number): readonly string[] => spreadSample([...ofLevels, ...ofLines], 2, 1, turn);
    for (const [turn, fieldsOf] of fields.entries()) {
      // The level is a label of their stream, while other rows have it as a field.
      const ofStream = besideLines((n) => ({ note: notes[n % 3] ?? '' })).map((entry) => ({
        ...entry,
        stream: { ...entry.stream, level: 'fehler' },
      }));
      const stored = [...besideLines(fieldsOf), ...ofStream];
      await store.push(stored);
      await store.compare(t, asked(turn));
      for (const [time, repeated] of [stored.slice(0, 20), stored.slice(100)].entries()) {
        await store.add(repeated);
        await store.compare(t, asked(turn + 1 + time));
      }
    }
  },
);

test.serial('streams and fields that came since the last query are counted', async (t) => {
  const text = 'sum by (pod, status, zone) (count_over_time({app="a"} | json [60s]))';
  await store.push(rows(20));
  await store.outcome(text, 'on');
  const more: StoredEntry = { ns: base + 30n * second, stream: { app: 'a', pod: 'pod-1' }, line: '' };
  for (const added of [
    { ...more, stream: { app: 'a', pod: 'pod-9' }, metadata: { status: '500' } },
    { ...more, metadata: { status: '200', zone: 'eu' } },
    { ...more, line: '{"zone":"us"}' },
  ]) {
    await store.add([added]);
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'));
  }
});
