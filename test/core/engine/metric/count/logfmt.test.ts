import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../../setup/runs.js';
import { valuesOf } from '../metric-store.js';
import { base, second } from './json-lines.js';
import { LineStore, linesInStreams, repeatedLines } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(70_000);
});
test.after.always(() => store.close());

const words = [
  'ts=2026-11-01T00:00:00Z',
  'caller=x.go:7',
  'msg="all is well"',
  'msg="retry status=7 now"',
  'msg="ends with status="',
  'msg="a \\"quoted\\" word"',
  'msg="never closed',
  'url=/x?status=5',
  'a=b=c',
  'a=b="x status=" y"',
  'bad"quote',
  'in_status=9',
  'instatus=9',
  '"status=8"',
  'status',
  'status.code=8',
  'http-status=8',
  'status-code=1',
  'e=\ufffd',
  '=x',
  'level=warn',
  'app=parsed',
  'team=parsed',
  '',
  '\\',
  '\x1b[31m',
];
const keys = ['status', 'status', 'status', 'status_code', 'n', 'http_status'];
const values = [
  '200',
  '404',
  '"200"',
  '',
  '""',
  '"x y"',
  '"say \\"x\\""',
  '"a\\/b"',
  '"tab\\tend"',
  '"\\x41"',
  '"\\u0041"',
  '"cut',
  '"5"x',
  "'x y'",
  '`z`',
  'a=b',
  'a"b',
  'a\\tb',
  '1.5',
  '1e3',
  'тест',
  '[x]',
];
const between = [' ', ' ', ' ', ' ', ' ', '  ', '\t', '\r', '', '\u00a0', ' \u2003'];

const pair = fc
  .tuple(fc.constantFrom(...keys), fc.constantFrom(...values))
  .map(([key, value]) => `${key}=${value}`);
const line = fc
  .array(fc.tuple(fc.oneof(pair, fc.constantFrom(...words)), fc.constantFrom(...between)), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.map((part) => part.join('')).join(''));
const metadata: readonly Readonly<Record<string, string>>[] = [
  { status: 'meta' },
  { team: 'blue' },
  { level: 'error' },
];

const entries = repeatedLines(line, (at) => metadata[at % 24]);

const queries = [
  'sum by (status) (count_over_time({app=~".+"} | logfmt [60s]))',
  'sum by (status_code, app) (rate({app=~".+"} | logfmt [120s]))',
  'sum by (http_status, n) (count_over_time({app=~".+"} | logfmt | __error__="" [60s]))',
  'sum by (status) (bytes_over_time({app="a"} | logfmt | status=~"2.+|4.." [60s]))',
  'sum by (team, status) (count_over_time({app=~".+"} | logfmt | drop __error__ [60s]))',
  'sum by (app) (count_over_time({app=~".+"} | logfmt | status >= 300 [60s]))',
  'sum by (app) (sum_over_time({app=~".+"} | logfmt | unwrap status | __error__="" [60s]))',
  'quantile_over_time(0.7, {app=~".+"} | logfmt | unwrap status | __error__="" [90s]) by (app, team)',
  'last_over_time({app=~".+"} | logfmt | unwrap n | __error__="" [60s]) by (status)',
  'sum by (level, status) (count_over_time({app=~".+"} | logfmt [60s]))',
  'sum by (status, app) (count_over_time({app=~".+"} | logfmt status [60s]))',
  'sum by (team) (count_over_time({app=~".+"} | logfmt --keep-empty team | team!="" [60s]))',
  'sum by (team) (sum_over_time({app=~".+"} | logfmt status | unwrap status | __error__="" [60s]))',
  'absent_over_time({app="b"} | logfmt | status="200" [60s])',
];

test.serial('lines that are counted by their logfmt pairs count as they would one by one', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(entries, async (stored) => {
      await store.push(stored);
      await store.compare(t, queries);
    }),
    { numRuns: deepRuns(2, 6) },
  );
});

/** Lines for which a search for ` status=` and Loki's parser differ, or seem to. */
const oddLines = [
  'status= status=5',
  'status="" status=5',
  'status=200ts=1 status="200"',
  'in=1 status=a"b status=5',
  'status="\\x41"',
  'status="\\u0041"',
  'status="a\\/b"',
  'status="a\\tb"',
  'status="5"x',
  'status="5',
  "status='5 6'",
  'status=`5`',
  'status=a=b',
  'status=a"b',
  'status= x status=5',
  'status=5\tx',
  'x\tstatus=4 status=5',
  'msg="x"status=4 status=5',
  'msg="a status=4 b" status=5',
  'msg="a status=4',
  'msg="a status=" status=5',
  'a=b="x msg=" status=5 y"',
  'instatus=4',
  'instatus=4 status=5',
  'status=5 x\tstatus=4',
  'status= x\tstatus=4',
  'http.status=4 status=5',
  'status',
  'x',
  'msg="a \\" status=4 b" status=5',
];

test.serial('odd pairs of logfmt are read by the backend as one by one', async (t) => {
  await store.push(linesInStreams(oddLines));
  for (const name of ['status', 'http_status']) {
    const text = `sum by (nr, ${name}) (count_over_time({app="a"} | logfmt [60s]))`;
    await store.compareCounted(t, text);
  }
});

test.serial(
  'lines with plain logfmt pairs are counted and gathered by the backend, and shortened elsewhere',
  async (t) => {
    const stored = Array.from({ length: 290 }, (_, n) => ({
      ns: base + BigInt(n) * second,
      stream: { app: 'a', pod: `pod-${n % 3}` },
      line: `n=${n} msg="all \\"is\\" well" status=${n % 3 === 0 ? 500 : 200} took=${n / 10}s user=${'x'.repeat(200)}`,
    }));
    await store.push(stored);
    const cases = [
      ['sum by (status) (count_over_time({app="a"} | logfmt [60s]))', 'statistics:ran', 40],
      ['sum by (pod) (rate({app="a"} | logfmt | status="500" [60s]))', 'statistics:ran', 60],
      [
        'quantile_over_time(0.9, {app="a"} | logfmt | unwrap duration(took) [60s]) by (status)',
        'value-groups:ran',
        40,
      ],
      [
        'last_over_time({app="a"} | logfmt | unwrap duration(took) [60s]) by (status)',
        'short-lines:ran',
        400,
      ],
    ] as const;
    await store.compareReading(t, cases, 290 * 200);
  },
);

test.serial('rows are read where the query that counts them would be too long for the backend', async (t) => {
  const text = 'x'.repeat(7_000);
  const names = [1, 2, 3, 4, 5, 6].map((nr) => `n${nr}${'a'.repeat(200)}`);
  for (const [line, stage, by] of [
    [`1 ${text} 200`, `pattern "<a> ${text} <status>"`, 'status'],
    [names.map((name) => `${name}=1`).join(' '), 'logfmt', names.join()],
    [JSON.stringify(Object.fromEntries(names.map((name) => [name, 1]))), 'json', names.join()],
  ] as const) {
    const rows = Array.from({ length: 1_000 }, (_none, index) => ({
      ns: base + 1n + BigInt(index),
      stream: { app: 'a' },
      line,
    }));
    await store.push(rows);
    const query = `sum by (${by}) (count_over_time({app="a"} | ${stage} [1m]))`;
    for (const time of ['first', 'second']) {
      const { answer, tried } = await store.run(query);
      t.deepEqual(Object.values(valuesOf(answer)), [1_000], `${stage.slice(0, 9)} ${time}`);
      t.true(tried.includes('statistics:query-too-long'), stage);
      t.is(tried.at(-1), 'rows:ran');
    }
  }
});
