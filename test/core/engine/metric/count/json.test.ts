import test from 'ava';
import fc from 'fast-check';
import { MemoryAccount } from '../../../../../core/base/memory/account.js';
import { base, jsonEntries, second, streams } from './json-lines.js';
import { LineStore, linesInStreams } from './line-store.js';
import { deepRuns, spreadSample } from '../../../../setup/runs.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(50_000);
});
test.after.always(() => store.close());

async function rowsMoved(text: string): Promise<number> {
  const { calls } = await store.run(text);
  return calls.reduce((sum, { rows }) => sum + rows, 0);
}

const queries = [
  'sum by (status) (count_over_time({app=~".+"} | json [60s]))',
  'sum by (_status) (count_over_time({app=~".+"} | json [60s]))',
  'sum by (status_code, app) (rate({app=~".+"} | json | __error__="" [120s]))',
  'sum by (status) (bytes_over_time({app="a"} | json | status=~"2.+|4.." [60s]))',
  'sum by (team, status) (count_over_time({app=~".+"} | json | drop __error__, __error_details__ [60s]))',
  'sum by (app) (count_over_time({app=~".+"} | json | status >= 300 [60s]))',
  'sum by (s) (count_over_time({app=~".+"} | json s="status", c="status.code" | __error__="" [60s]))',
  'sum (count_over_time({app=~".+"} | json [60s]))',
  'sum by (app) (sum_over_time({app=~".+"} | json | unwrap status | __error__="" [60s]))',
  'max_over_time({app=~".+"} | json | team="red" | unwrap status_code | __error__="" [120s]) by (status)',
  'sum by (team) (sum_over_time({app=~".+"} | json | unwrap n [60s]))',
  'sum by (level, detected_level) (count_over_time({app=~".+"} | json | drop __error__ [60s]))',
  'sum by (status) (count_over_time({app=~".+"} | detected_level!="warn" | json | drop __error__ [60s]))',
  'sum by (app, detected_level) (count_over_time({app=~".+"} | json | drop __error__ [60s]))',
  'sum by (app, __error_details__) (rate({app=~".+"} | json | drop __error__ [60s]))',
  'absent_over_time({app="b"} | json | status="200" [60s])',
];

test.serial('lines that are counted by their JSON count as they would one by one', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(jsonEntries, async (stored) => {
      await store.push(stored);
      await store.compare(t, queries);
    }),
    { numRuns: deepRuns(3, 60) },
  );
});

test.serial('lines are not sent for labels that stand in them once', async (t) => {
  const stored = Array.from({ length: 290 }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a' },
    line: `{"n":${n},"status":${n % 3 === 0 ? 500 : 200},"http":{"method":"GET"},"took_ms":${n}}`,
  }));
  await store.push(stored);
  const text = 'sum by (status) (count_over_time({app="a"} | json [60s]))';
  t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'));
  for (const time of ['second', 'third']) t.true((await rowsMoved(text)) < 40, time);
  // Each line is a group of its own.
  const many = 'sum by (took_ms) (count_over_time({app="a"} | json [60s]))';
  t.deepEqual(await store.outcome(many, 'on'), await store.outcome(many, 'off'));
  t.true((await rowsMoved(many)) >= 290);
});

test.serial('lines that are no objects are counted together, whatever they say', async (t) => {
  const starts = [
    '',
    '[1]',
    '"a text"',
    '{"status":200} and ',
    '{',
    ' {"status":200}',
    '\t',
    '\ufeff{}',
    '7',
  ];
  for (const step of [1, 10]) {
    const stored = Array.from({ length: 290 }, (_, n) => ({
      ns: base + BigInt(n) * second,
      stream: { app: 'a', pod: `pod-${n % 3}` },
      line: n % step === 0 ? `request ${n} took ${n * 7} ms` : `{"n":${n},"status":${n % 4}}`,
      metadata: n % 5 === 0 ? { status: 'stored' } : {},
    }));
    const odd = starts.map((start, n) => ({
      ...{ ns: base + BigInt(n) * 7n * second, stream: { app: 'a' }, metadata: { status: `${n}` } },
      line: start + (n % 2 === 0 ? '' : ` ${n} status=3`),
    }));
    const isolated = 'sum by (status) (count_over_time({app="a"} | json | __error__="" [60s]))';
    for (const all of [stored, [...stored, ...odd]]) {
      await store.push(all);
      await store.compare(t, [
        ...queries,
        isolated,
        'sum by (status, __error__) (count_over_time({app="a"} | json | drop __error_details__ [60s]))',
        'sum by (s) (count_over_time({app="a"} | json s="status" | __error__="" [60s]))',
        'sum by (s, detected_level) (count_over_time({app="a"} | json s="status" | drop __error__ [60s]))',
        'sum by (status) (count_over_time({app="a"} | json | logfmt | drop __error__ [60s]))',
        'quantile_over_time(0.5, {app="a"} | json | __error__="" | unwrap n [60s]) by (status)',
        'sum by (pod) (sum_over_time({app="a"} | json | unwrap n | __error__="" [60s]))',
        'max_over_time({app="a"} | json | __error__="" | unwrap status | __error__="" [60s]) by (pod)',
      ]);
    }
    await store.push(stored);
    await store.outcome(isolated, 'on');
    t.true((await rowsMoved(isolated)) < 60, `${step}`);
  }
});

test.serial('lines are not sent for labels of nested objects', async (t) => {
  const stored = Array.from({ length: 290 }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a', pod: `pod-${n % 3}` },
    line: JSON.stringify({
      ...{ n, http: { method: 'GET', 'status-code': n % 3 === 0 ? 500 : 200, took: { ms: n / 10 } } },
      ...{ http_version: 2, user: { id: n % 4, agent: 'x'.repeat(200) }, 'trace.id': n },
      stack: `Error: ${n}\n\tat run (C:\\x.js)`,
      ...(n % 5 === 0 ? { fault: `timeout`, '@l': 'Error' } : {}),
    }),
  }));
  await store.push(stored);
  const cases = [
    ['sum by (http_status_code) (count_over_time({app="a"} | json [60s]))', 'statistics:ran', 40],
    ['sum by (fault) (count_over_time({app="a"} | json [60s]))', 'statistics:ran', 40],
    ['sum by (_l) (count_over_time({app="a"} | json [60s]))', 'statistics:ran', 40],
    ['sum by (fault) (count_over_time({app="a"} | json fault="fault" [60s]))', 'statistics:ran', 40],
    [
      'sum by (user_id, http_method) (rate({app="a"} | json | http_status_code>=500 [60s]))',
      'statistics:ran',
      90,
    ],
    [
      'sum by (code) (count_over_time({app="a"} | json code=`http["status-code"]` [60s]))',
      'statistics:ran',
      40,
    ],
    [
      'quantile_over_time(0.9, {app="a"} | json ms="http.took.ms" | unwrap ms [60s]) by (pod)',
      'value-groups:ran',
      40,
    ],
    [
      'quantile_over_time(0.9, {app="a"} | json | unwrap http_took_ms [60s]) by (pod)',
      'value-groups:ran',
      40,
    ],
    [
      'last_over_time({app="a"} | json | unwrap http_took_ms [60s]) by (http_status_code)',
      'short-lines:ran',
      400,
    ],
  ] as const;
  await store.compareReading(t, cases, 290 * 200);
});

/** Lines with keys that are not on the path `http.code`, or with two values on it. */
const oddPaths = [
  '{"http":{"code":1},"x":1}',
  '{"http.code":2,"code":3}',
  '{"http.code":4}',
  '{"":{"http":{"code":5}}}',
  '{"http":{"":1,"code":6}}',
  '{"http":{"code" :7,"code":8}}',
  '{"http":{"code":9,"code" :10}}',
  '{"http":{"code":11},"http":{"code":12}}',
  '{"http":1,"http":{"code":13}}',
  '{"http":[{"code":14}]}',
  '{"http":{"code":[15]}}',
  '{"http":{"code":{"code":16}}}',
  '{"x":{"http":{"code":17}}}',
  '{"http":{"x.code":18}}',
  '{"http":{"code":null}}',
  '{"http":{"code":""}}',
  '{"http":{"code":19}',
  '["http",{"code":20}]',
  ' {"http":{"code":21}}',
  '\t{"http":{"code":22}} ',
];

test.serial('lines are counted by the value at a path, whatever keys are beside it', async (t) => {
  const parser = '| json code="http.code" | drop __error__';
  for (const line of oddPaths) {
    await store.push(linesInStreams(['{"http":{"code":1}}', line, '{"x":1,"http":{"code":"y"}}']));
    await store.compare(t, [`sum by (nr, code) (count_over_time({app="a"} ${parser} [60s]))`], line);
  }
});

test.serial('of lines that are unwrapped no more is sent than what matters', async (t) => {
  const stored = Array.from({ length: 290 }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a', pod: `pod-${n % 3}` },
    line: `{"n":${n},"http":{"method":"GET"},"took_ms":${n / 10},"user":"${'x'.repeat(200)}"}`,
  }));
  await store.push(stored);
  for (const text of [
    'quantile_over_time(0.9, {app="a"} | json | unwrap took_ms [60s]) by (pod)',
    'sum by (took_ms) (count_over_time({app="a"} | json [60s]))',
  ]) {
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), text);
    const { calls } = await store.run(text);
    const bytes = calls.reduce((sum, call) => sum + call.bytes, 0);
    t.true(bytes < 290 * 200, `${text} moved ${bytes} bytes`);
  }
});

test.serial('short lines are those of their own streams', async (t) => {
  const stored = Array.from({ length: 200 }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: streams[n % 3] ?? {},
    line: `{"n":${n},"text":"some"}`,
  }));
  await store.push(stored);
  for (const names of ['team', 'team, app', 'severity', '']) {
    const text = `sum by (${names}) (sum_over_time({app=~".+"} | json | unwrap n [60s]))`;
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), text);
  }
});

test.serial('numbers that are none are Loki’s error, though the backend reads them', async (t) => {
  const stored = Array.from({ length: 100 }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a' },
    line: n === 50 ? '{"a":NaN,"status":200}' : '{"a":1,"status":200}',
  }));
  await store.push(stored);
  const text = 'sum by (status) (count_over_time({app="a"} | json [60s]))';
  const off = await store.outcome(text, 'off');
  t.regex(String(off), /JSONParserErr/);
  t.is(await store.outcome(text, 'on'), off);
  t.is(await store.outcome(text, 'on'), off);
});

test.serial('parsers of which no label is seen move no lines', async (t) => {
  const stored = Array.from({ length: 100 }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a' },
    line: `no json ${n}`,
  }));
  await store.push(stored);
  for (const parser of ['json', 'logfmt', 'regexp "(?P<a>x)"', 'pattern "<a> <_>"', 'unpack']) {
    const text = `sum(bytes_rate({app="a"} | ${parser} [60s]))`;
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), parser);
    t.true((await rowsMoved(text)) < 40, parser);
  }
});

const unlike = [
  '{"status":7,"status":8}',
  '{"status":7," status":8}',
  '{"status":7,"\tstatus":8}',
  '{"status":7,"status\u3000":8}',
  '{"st\\u0061tus":7}',
  '{"status":7,"n":+1}',
  '{"status":[7]}',
  '{"status":{"status":7}}',
  '{"n":1}',
  'status=7',
  '{"n":9002,"st\\u0061tus":404,"status":200}',
];

test.serial('a line that no sample of its selection is like counts as it would alone', async (t) => {
  t.timeout(120_000);
  const texts = [
    'sum by (status) (count_over_time({app="a"} | json [60s]))',
    'sum by (status, detected_level) (count_over_time({app="a"} | json | drop __error__ [60s]))',
    'max_over_time({app="a"} | json | unwrap status | __error__="" [60s]) by (app)',
    'sum by (app) (sum_over_time({app="a"} | json | unwrap status | __error__="" [60s]))',
  ];
  for (const [index, line] of unlike.entries()) {
    const stored = Array.from({ length: 598 }, (_, n) => ({
      ns: base + (BigInt(n) * second) / 2n,
      stream: { app: 'a' },
      line: `{"n":${n},"status":${n % 3 === 0 ? 500 : 200}}`,
    }));
    // Samples are taken from the start of each eighth of the range, which starts a minute before the first row.
    const other = { ns: base + 118n * second + 1n, stream: { app: 'a' }, line };
    const comesLater = index % 2 === 0;
    const asked = spreadSample(texts, 2, 1, Math.floor(index / 2));
    await store.push(comesLater ? stored : [...stored, other]);
    await store.compare(t, asked, line);
    if (!comesLater) continue;
    await store.add([other]);
    await store.compare(t, asked, line);
  }
});

test.serial('values that the backend counts are held against the memory of a query', async (t) => {
  const stored = Array.from({ length: 2_900 }, (_, n) => ({
    ns: base + (BigInt(n) * second) / 10n,
    stream: { app: 'a', pod: `pod-${n % 23}` },
    line: `{"n":${n},"status":${n % 20}}`,
  }));
  await store.push(stored);
  const text = 'sum by (pod, status) (count_over_time({app="a"} | json [60s]))';
  t.true((await store.tried(text)).includes('statistics:ran'));
  await t.throwsAsync(store.run(text, { limits: { memory: new MemoryAccount(300_000) } }), {
    message: /statistics of the backend.*-max-query-memory/s,
  });
});
