import test from 'ava';
import fc from 'fast-check';
import { Trace } from '../../../../../core/base/trace.js';
import { deepRuns, spreadSample } from '../../../../setup/runs.js';
import { valuesOf, type StoredEntry } from '../metric-store.js';
import { base, jsonEntries, second } from './json-lines.js';
import { LineStore } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(60_000);
});
test.after.always(() => store.close());

const queries = [
  'quantile_over_time(0.7, {app=~".+"} | json | unwrap status [120s]) by (app)',
  'quantile_over_time(0.7, {app=~".+"} | json | __error__="" | unwrap status [120s]) by (app)',
  'max_over_time({app=~".+"} | json | __error__="" | unwrap status [60s]) by (app, team)',
  'quantile_over_time(0.5, {app=~".+"} | json | app="a" | unwrap status [60s]) by (team)',
  'sum by (app, team) (max_over_time({app=~".+"} | json | unwrap status | __error__="" [60s]))',
  'sum by (level) (min_over_time({app=~".+"} | json | unwrap status_code | app!="b" [60s]))',
  'min_over_time({app=~".+"} | json | drop __error__ | unwrap duration(status) [90s]) by (app)',
  'sum by (app) (sum_over_time({app=~".+"} | json | unwrap status [60s]))',
  'avg_over_time({app=~".+"} | json | unwrap status | __error__="" [60s]) by (app, team)',
  'sum by (team) (rate({app=~".+"} | json | unwrap bytes(status) | __error__="" [90s]))',
  'max_over_time({app=~".+"} | json status="status", team="team" | unwrap status | __error__="" [60s])',
  'avg by (app) (avg_over_time({app=~".+"} | regexp `"status":"?(?P<code>[0-9]+)` | unwrap code [60s]))',
  'max by (app) (max_over_time({app=~".+"} != "tail" | json | unwrap bytes(status) | __error__="" [60s] offset 1s))',
];

test.serial('values that the backend gathers are those of the lines', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(jsonEntries, async (stored) => {
      // Some rows are pushed twice, some of them with metadata.
      const twice = stored.filter((_, index) => index % 9 === 0);
      await store.push([...stored, ...twice]);
      await store.compare(t, queries);
    }),
    { numRuns: deepRuns(2, 4) },
  );
});

function lines(count: number): readonly StoredEntry[] {
  return Array.from({ length: count }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a', pod: `pod-${n % 3}` },
    line: `{"n":${n},"method":"${n % 2 === 0 ? 'GET' : 'PUT'}","took_ms":${n / 10},"took":"${n}ms","moved":${n - 145.5},"shift":${n - 145},"user":"${'x'.repeat(200)}"}`,
  }));
}

test.serial('values come without their rows, also where lines were pushed twice', async (t) => {
  const stored = lines(290);
  await store.push([...stored, ...stored.slice(40, 60)]);
  const text = 'quantile_over_time(0.9, {app="a"} | json | unwrap took_ms [60s]) by (method)';
  t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'));
  t.deepEqual(await store.tried(text), ['statistics:not-countable', 'value-groups:ran']);
  const { calls } = await store.run(text);
  t.true(calls.reduce((sum, { rows }) => sum + rows, 0) < 40);
});

test.serial('values of lines are gathered behind a filter on another part of the line', async (t) => {
  await store.push(lines(290));
  for (const parser of ['json', 'json took_ms="took_ms"', 'regexp `"took_ms":(?P<took_ms>[0-9.]+)`']) {
    for (const grouping of [' by (pod)', '']) {
      const text = `max_over_time({app="a"} |= "PUT" | ${parser} | unwrap took_ms [60s])${grouping}`;
      if (parser === 'json' && grouping === '') continue;
      const outcome = await store.outcome(text, 'on');
      t.deepEqual(outcome, await store.outcome(text, 'off'), text);
      t.not(Object.keys(outcome as object).length, 0, text);
      t.is((await store.tried(text)).at(-1), 'value-groups:ran', text);
    }
  }
});

test.serial('values are gathered beside filters on errors, unless a sample keeps its error', async (t) => {
  const before = 'max_over_time({app="a"} | json | __error__="" | unwrap took_ms [60s]) by (method)';
  const keeping =
    'quantile_over_time(1, {app="a"} | json | unwrap took_ms | __error__!="LogfmtParserErr" [60s]) by (method)';
  await store.push(lines(290));
  for (const text of [before, keeping]) {
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'));
    t.is((await store.tried(text)).at(-1), 'value-groups:ran', text);
  }
  const broken = lines(290).map((entry, n) =>
    n === 40 ? { ...entry, line: '{"method":"GET","took_ms":7,"user' } : entry,
  );
  await store.push(broken);
  for (const text of [before, keeping]) {
    const wanted = await store.outcome(text, 'off');
    t.is(JSON.stringify(wanted).includes('pod-1'), text === keeping, text);
    for (const time of ['first', 'second'])
      t.deepEqual(await store.outcome(text, 'on'), wanted, `${text} ${time}`);
  }
  const ways = await store.tried(keeping);
  t.true(ways.includes('value-groups:errors-kept'), ways.join(' '));
  t.is(ways.at(-1), 'whole-rows:ran');
});

test.serial('a sample that keeps its error has all labels for the aggregation around its own', async (t) => {
  const broken = lines(290).map((entry, n) =>
    n % 40 === 0 ? { ...entry, line: '{"method":"GET","took_ms":7,"user' } : entry,
  );
  await store.push(broken);
  const values = '{app="a"} | json | took_ms!="" | unwrap took_ms | __error__!="LogfmtParserErr"';
  for (const around of ['count', 'sum by (pod)', 'max by (method, pod)']) {
    const text = `${around} (quantile_over_time(1, ${values} [60s]) by (method))`;
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), text);
    const ways = await store.tried(text);
    t.true(ways.includes('rows:errors-kept'), ways.join(' '));
  }
});

test.serial('levels that are unwrapped stay labels', async (t) => {
  const levels = lines(290).map((entry, n) => ({
    ...entry,
    line: 'x',
    metadata: { severity: String(n % 3), team: `t${n % 2}` },
  }));
  await store.push(levels);
  for (const name of ['severity', 'detected_level', 'team'])
    for (const grouping of ['', ' by (team)', ' by (detected_level)', ' without (team)', ' by (severity)'])
      await store.compare(t, [`max_over_time({app="a"} | unwrap ${name} | __error__="" [60s])${grouping}`]);
});

test.serial('values are gathered beside rows without a line, which alone are read', async (t) => {
  const metadata = { n: '7', method: 'PUT', took_ms: '12.5' };
  // A row without fields has an empty line, which is not JSON.
  const without = lines(290).map(({ ns, stream }, n) => ({
    ns,
    stream,
    line: '',
    metadata: n === 40 ? {} : metadata,
  }));
  const stored = lines(290).map((entry, n) => (n % 40 === 0 ? (without[n] ?? entry) : entry));
  await store.push([...stored, ...stored.slice(70, 90)]);
  const queries = [
    'quantile_over_time(0.9, {app="a"} | json | unwrap took_ms | __error__="" [60s]) by (method)',
    'sum by (method) (sum_over_time({app="a"} | json | unwrap n | __error__="" [60s]))',
  ];
  for (const text of queries) {
    const wanted = await store.outcome(text, 'off');
    // The first request reads a sample, the second one inspects lines.
    for (const most of [Infinity, Infinity, 50]) {
      const { answer, calls, tried: ways } = await store.run(text);
      t.deepEqual(valuesOf(answer), wanted, text);
      t.is(ways.at(-1), 'value-groups:ran');
      t.true(calls.reduce((sum, { rows }) => sum + rows, 0) < most, text);
    }
  }
});

test.serial('values are not gathered by labels that are fields of rows with a line', async (t) => {
  const stored = lines(290).map((entry, n) =>
    n === 40 ? { ...entry, metadata: { method: 'PATCH' } } : entry,
  );
  await store.push(stored);
  const text = 'quantile_over_time(0.9, {app="a"} | json | unwrap took_ms | __error__="" [60s]) by (method)';
  const wanted = await store.outcome(text, 'off');
  for (const time of ['first', 'second']) {
    t.deepEqual(await store.outcome(text, 'on'), wanted, time);
    t.true((await store.tried(text)).includes('value-groups:row-labels'), time);
  }
});

test.serial(
  'fields of lines that cannot be parsed hide no values, where such lines do not pass',
  async (t) => {
    const parsed = lines(290).map((entry, n) =>
      n % 4 === 0
        ? { ...entry, line: `all is well ${n}`, metadata: { took_ms: `${n}`, method: 'PUT' } }
        : entry,
    );
    await store.push(parsed);
    for (const [stages, strategy] of [
      ['| json | __error__="" | unwrap took_ms | __error__=""', 'value-groups:ran'],
      ['| json | drop __error__ | unwrap took_ms | __error__=""', 'value-groups:row-labels'],
      ['| json | unwrap took_ms | __error__=""', 'value-groups:row-labels'],
    ] as const) {
      const text = `quantile_over_time(0.9, {app="a"} ${stages} [60s]) by (method)`;
      t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), text);
      t.true((await store.tried(text)).includes(strategy), text);
    }
  },
);

test.serial('the backend adds up plain numbers, and sends other values as they are', async (t) => {
  const odd = [
    '1e1',
    '+5',
    '0x10',
    '1_0',
    '3ms',
    '2KiB',
    '010',
    '-4.5',
    'Inf',
    'NaN',
    '',
    '.5',
    '7.',
    '12345678901234567890',
    '0.12345678901234567',
  ];
  const stored = lines(290).map((entry, n) => ({
    ...entry,
    metadata: {
      whole: String(n * 3),
      mixed: n % 20 === 7 ? (odd[(n - 7) / 20] ?? '') : String(n / 4),
      ...(n % 3 === 0 ? { some: `${n}.5` } : {}),
      negative: String(n - 145),
      texts: `${n}e0`,
    },
  }));
  await store.push([...stored, ...stored.slice(40, 60)]);
  for (const [turn, name] of ['whole', 'mixed', 'some', 'negative', 'texts'].entries())
    for (const [more, errors] of [' | __error__=""', ''].entries()) {
      const queries = [
        `sum by (pod) (sum_over_time({app="a"} | unwrap ${name}${errors} [60s]))`,
        `sum by (pod) (rate({app="a"} | unwrap ${name}${errors} [60s]))`,
        ...['avg', 'min', 'max', 'stddev'].map(
          (op) => `${op}_over_time({app="a"} | unwrap ${name}${errors} [60s]) by (pod)`,
        ),
      ];
      await store.compare(t, spreadSample(queries, 3, 1, turn + more));
    }
});

test.serial('more values that are no plain numbers than a call may send are gathered in parts', async (t) => {
  const stored = Array.from({ length: 1200 }, (_, n) => ({
    ns: base + BigInt(n) * 40_000_000n,
    stream: { app: 'a' },
    line: `line ${n}`,
    metadata: { texts: `${n}e0`, whole: String(n), fraction: `${n}.25` },
  }));
  await store.push(stored);
  for (const name of ['texts', 'whole', 'fraction']) {
    const text = `sum(sum_over_time({app="a"} | unwrap ${name} [60s]))`;
    const wanted = await store.outcome(text, 'off');
    for (const time of ['first', 'second']) t.deepEqual(await store.outcome(text, 'on'), wanted, time);
    const { calls, tried } = await store.run(text);
    t.is(tried.at(-1), 'value-groups:ran');
    t.is(calls.reduce((sum, { bytes }) => sum + bytes, 0) < 2000, name !== 'texts');
  }
});

test.serial('labels that hold the unwrapped value are those of each line', async (t) => {
  await store.push(
    Array.from({ length: 200 }, (_, n) => ({
      ns: base + BigInt(n) * second,
      stream: { app: 'a' },
      line: `took=${n % 7} id=x${n % 7}y size=${n % 3}`,
    })),
  );
  await store.compare(t, [
    'max_over_time({app="a"} | logfmt a="took", b="took" | unwrap a | __error__="" [60s]) by (b)',
    'max_over_time({app="a"} | regexp "id=(?P<b>x(?P<a>[0-9]+)y)" | unwrap a | __error__="" [60s]) by (b)',
    'sum by (b) (sum_over_time({app="a"} | regexp "took=(?P<a>(?P<b>[0-9])) " | unwrap a | __error__="" [60s]))',
    'sum by (b) (sum_over_time({app="a"} | regexp "took=(?P<b>(?P<a>[0-9])) " | unwrap a | __error__="" [60s]))',
    'max_over_time({app="a"} | pattern "took=<a> id=<b> size=<_>" | unwrap a | __error__="" [60s]) by (b)',
  ]);
});

test.serial('values of one sign are gathered to be added up, and integers of both signs', async (t) => {
  await store.push(lines(290));
  const rounded = 'sum by (method) (sum_over_time({app="a"} | json | unwrap took_ms [60s]))';
  const ofBothSigns = rounded.replace('took_ms', 'moved');
  const texts = [
    ...['n', 'shift'].map((name) => rounded.replace('took_ms', name)),
    'avg_over_time({app="a"} | json | unwrap n [60s]) by (method)',
    ...[rounded, 'stddev_over_time({app="a"} | json | unwrap took_ms [60s]) by (method)'],
    'avg_over_time({app="a"} | json | unwrap duration(took) [60s]) by (method)',
  ];
  for (const text of [...texts, ofBothSigns]) {
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), text);
    const ways = await triedOf(text);
    if (text === ofBothSigns) t.true(ways.includes('value-groups:times-needed'));
    else t.is(ways.at(-1), 'value-groups:ran', `${text}: ${ways.join(' ')}`);
  }
});

test.serial('values are gathered only where no more is seen of them', async (t) => {
  await store.push(lines(290));
  const reasons: Readonly<Record<string, string>> = {
    'first_over_time({app="a"} | json | unwrap took_ms [60s]) by (method)': 'times-needed',
    'max_over_time({app="a"} | json | unwrap took_ms [60s]) by (took_ms)': 'values-seen',
    'max_over_time({app="a"} | json | took_ms > 5 | unwrap took_ms [60s]) by (method)': 'values-seen',
    'max_over_time({app="a"} | json | unwrap took_ms | took_ms < 9 [60s]) by (method)': 'values-seen',
    'max_over_time({app="a"} | json | unwrap n [60s]) by (user, pod)': 'ran',
    'max_over_time({app="a"} | json | unwrap took_ms [60s]) by (n)': 'lines-differ',
    'max_over_time({app="a"} | json | unwrap app [60s]) by (method)': 'row-labels',
    'max_over_time({app="a"} | logfmt --strict | unwrap took_ms [60s]) by (method)': 'lines-needed',
  };
  for (const [text, reason] of Object.entries(reasons)) {
    t.true(
      (await triedOf(text)).includes(`value-groups:${reason}`),
      `${text}: ${String(await triedOf(text))}`,
    );
    t.deepEqual(await store.outcome(text, 'on'), await store.outcome(text, 'off'), text);
  }
});

/** The strategies tried for a query that may fail. */
async function triedOf(text: string): Promise<readonly string[]> {
  const trace = new Trace();
  await store.run(text, { trace }).catch(() => undefined);
  return trace.strategies.map(({ strategy, outcome: told }) => `${strategy}:${told}`);
}
