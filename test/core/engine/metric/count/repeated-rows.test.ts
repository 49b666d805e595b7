import test from 'ava';
import { printQuery } from '../../../../../core/victoria/logsql/print.js';
import { spreadSample } from '../../../../setup/runs.js';
import { MetricStore, rangeRequest, valuesOf, type StoredEntry, type MetricRun } from '../metric-store.js';

const second = 1_000_000_000n;
/** Starts after whole segments of five minutes, so that the facts learned about them are used again. */
const base = 1793491200000000001n;
const lengthNs = 3600n * second;
let store: MetricStore;
let account = 95_000;

test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

/** The number of a request's queries that filter by single times, and whether the answer matches that of the rows. */
async function timesAsked(text: string): Promise<{ readonly asked: number; readonly isRight: boolean }> {
  const request = rangeRequest(text, base - 1n + 300n * second, base - 1n + lengthNs, 300n * second);
  let asked = 0;
  const { answer } = await store.run(request, {
    account,
    asked: (query) => {
      if (printQuery(query).includes('_time:[')) asked += 1;
    },
  });
  const expected = valuesOf((await store.run(request, { account, pushdown: 'off' })).answer);
  return { asked, isRight: JSON.stringify(valuesOf(answer)) === JSON.stringify(expected) };
}

function pushedTwice(line: string, count: number): readonly StoredEntry[] {
  return Array.from({ length: count }, (_, n) => ({
    ns: base + BigInt(n) * 60n * second,
    stream: { app: `a${n % 3}` },
    line: `${line} ${n % 2 === 0 ? 'even' : 'odd'}`,
  })).flatMap((entry) => [entry, entry, { ...entry, line: 'other' }]);
}

test.serial('rows that were pushed twice are taken out without reading them again', async (t) => {
  account += 1;
  await store.push(account, pushedTwice('line', 40));
  const queries = ['!= "zq1"', '|= "even"', '!= "even" != "zq2"', '|~ "odd|other"'];
  for (const [index, filter] of queries.entries()) {
    const { asked, isRight } = await timesAsked(
      `sum by (app) (bytes_over_time({app=~".+"} ${filter} [10m]))`,
    );
    t.true(isRight, filter);
    t.is(asked > 0, index === 0, filter);
  }
});

test.serial('rows that are too large to be kept are read where they stand', async (t) => {
  const large = pushedTwice('x'.repeat(600_000), 1).slice(0, 2);
  account += 1;
  await store.push(account, large);
  for (const filter of ['!= "zq1"', '!= "zq2"']) {
    const { asked, isRight } = await timesAsked(`sum(count_over_time({app=~".+"} ${filter} [10m]))`);
    t.true(isRight, filter);
    t.true(asked > 0, filter);
  }
});

/**
 * More repeated entries than the limit allows to keep. With `areOthers`, other rows of their stream share the time of an entry and differ
 * from it only in their line or their metadata.
 */
function manyRepeats(areOthers: boolean): readonly StoredEntry[] {
  const repeated = Array.from({ length: 5500 }, (_, n): StoredEntry => ({
    ns: base + BigInt(n) * 600_000_000n,
    stream: { app: 'crowded' },
    line: `${n % 3 === 0 ? 'level=error' : 'level=info'} msg="line ${n % 7}"`,
    metadata: { pod: `p${n % 4}` },
  }));
  const alike = repeated.slice(0, areOthers ? 300 : 0).flatMap((entry) => [
    { ...entry, line: 'level=warn msg=other' },
    { ...entry, metadata: { pod: 'another' } },
  ]);
  const others = repeated.slice(0, 200).map((entry) => ({ ...entry, stream: { app: 'plain' } }));
  return [...repeated, ...repeated, ...repeated.slice(0, 70), ...alike, ...others];
}

const byStream = 'sum by (app) (count_over_time({app=~".+"} [10m]))';

for (const areOthers of [true, false])
  test.serial(
    `where too many rows repeat to keep them, the backend counts distinct ones; ${areOthers ? 'others have' : 'no other has'} their times`,
    async (t) => {
      account += 1;
      await store.push(account, manyRepeats(areOthers));
      const others = [
        'sum by (app) (rate({app=~".+"} |= "line 3" [5m]))',
        'sum by (detected_level) (count_over_time({app=~".+"} [10m]))',
        'sum by (app, pod) (bytes_over_time({app=~".+"} != "line 1" [10m]))',
        'sum by (pod) (count_over_time({app="crowded"} | pod!="p1" [10m]))',
      ];
      for (const text of [byStream, ...spreadSample(others, 2, 1, areOthers ? 0 : 1)]) {
        let expected: MetricRun['answer'] | undefined;
        for (const time of ['at first', 'again']) {
          const request = rangeRequest(text, base - 1n + 300n * second, base - 1n + lengthNs, 300n * second);
          let distinct = 0;
          const { answer, tried } = await store.run(request, {
            account,
            asked: (query) => {
              if (printQuery(query).includes('count_uniq_hash(_stream')) distinct += 1;
            },
          });
          expected ??= (await store.run(request, { account, pushdown: 'off' })).answer;
          t.deepEqual(valuesOf(answer), valuesOf(expected), `${text} ${time}`);
          t.is(tried.at(-1), 'statistics:ran', `${text} ${time}`);
          // The times of surplus rows are kept when there are too many rows.
          if (text === byStream) t.is(distinct, 0, time);
        }
      }
    },
  );

test.serial(
  'an hour without repeats is counted as it is, where the rows of another hour repeat too often to be kept',
  async (t) => {
    account += 1;
    const later = Array.from({ length: 300 }, (_, n): StoredEntry => ({
      ns: base + lengthNs + BigInt(n) * 10n * second,
      stream: { app: 'crowded' },
      line: `level=info msg="line ${n % 7}"`,
    }));
    await store.push(account, [...manyRepeats(false), ...later]);
    const text = 'sum by (detected_level) (count_over_time({app=~".+"} [10m]))';
    const request = rangeRequest(text, base - 1n + 600n * second, base - 1n + 2n * lengthNs, 600n * second);
    const distinct: string[] = [];
    const { answer } = await store.run(request, {
      account,
      asked: (query) => {
        const printed = printQuery(query);
        if (printed.includes('count_uniq_hash(_stream')) distinct.push(printed);
      },
    });
    const expected = await store.run(request, { account, pushdown: 'off' });
    t.deepEqual(valuesOf(answer), valuesOf(expected.answer));
    t.true(distinct.length > 0);
    for (const printed of distinct) t.notRegex(printed, /T01:/);
  },
);

/** Many rows, of which those of two minutes, or some of every second minute, were pushed twice; some share their time with other rows. */
function repeatedWithin(minutes: 'two' | 'every second'): readonly StoredEntry[] {
  const all = Array.from({ length: 24_000 }, (_, n): StoredEntry => ({
    ns: base + BigInt(n) * 150_000_000n,
    stream: { app: `a${n % 2}` },
    line: `line ${n % 5}`,
  }));
  const minute = (n: number): number => Math.floor(n / 400);
  const again = all.filter((_, n) =>
    minutes === 'two' ? minute(n) === 7 || minute(n) === 41 : minute(n) % 2 === 0 && n % 4 === 0,
  );
  const others = again.slice(0, 40).map((entry) => ({ ...entry, line: 'another' }));
  return [...all, ...again, ...again.slice(0, 20), ...others];
}

for (const [minutes, isNarrowed] of [
  ['two', true],
  ['every second', false],
] as const)
  test.serial(`rows of ${minutes} of sixty minutes were pushed twice: which rows are compared`, async (t) => {
    account += 1;
    await store.push(account, repeatedWithin(minutes));
    const compared: string[] = [];
    const atFirst: number[] = [];
    const others = [
      'sum by (app) (count_over_time({app=~".+"} |= "line 3" [10m]))',
      'sum(rate({app=~".+"} [10m]))',
    ];
    for (const text of [byStream, ...spreadSample(others, 2, 1, isNarrowed ? 0 : 1)]) {
      const request = rangeRequest(text, base - 1n + 600n * second, base - 1n + lengthNs, 600n * second);
      const { answer } = await store.run(request, {
        account,
        asked: (query) => {
          const printed = printQuery(query);
          if (printed.includes('count_uniq_hash(_time, _msg')) compared.push(printed);
        },
      });
      const expected = await store.run(request, { account, pushdown: 'off' });
      t.deepEqual(valuesOf(answer), valuesOf(expected.answer), text);
      atFirst.push(compared.length);
    }
    t.true(compared.length > 0);
    // The repeats are the same for all queries of these rows.
    t.is(new Set(atFirst).size, 1);
    for (const printed of compared)
      t.is(
        /_time:\[2026-11-01T00:0[67]:.* or _time:\[2026-11-01T00:4[012]:/.test(printed),
        isNarrowed,
        printed,
      );
  });

/** JSON lines, all pushed twice, in more streams than a filter can name in all segments, and in one stream with an extra label. */
function manyStreams(): readonly StoredEntry[] {
  const rows = Array.from({ length: 60 * 20 }, (_, n): StoredEntry => ({
    ns: base + BigInt(n) * second,
    stream: { app: `${'a'.repeat(100)}${n % 30}` },
    line: JSON.stringify({ method: n % 3 === 0 ? 'GET' : 'PUT', took: n % 90, note: 'x'.repeat(40) }),
  }));
  const others = rows.slice(0, 90).map((entry) => ({ ...entry, stream: { app: 'other', zone: 'z1' } }));
  return [...rows, ...rows, ...others];
}

test.serial(
  'values of distinct rows are gathered where many repeat, and labels of others stay',
  async (t) => {
    account += 1;
    await store.push(account, manyStreams());
    for (const [text, strategy] of [
      ['quantile_over_time(0.9, {app=~".+"} | json | unwrap took [5m]) by (method)', 'value-groups'],
      ['sum by (method) (sum_over_time({app=~".+"} | json | unwrap took [5m]))', 'value-groups'],
      ['sum by (zone) (bytes_over_time({app=~".+"} [5m]))', 'statistics'],
    ] as const)
      for (const time of ['at first', 'again']) {
        const request = rangeRequest(text, base - 1n + 300n * second, base - 1n + lengthNs, 300n * second);
        const { answer, tried } = await store.run(request, { account });
        const expected = await store.run(request, { account, pushdown: 'off' });
        t.deepEqual(valuesOf(answer), valuesOf(expected.answer), `${text} ${time}`);
        t.is(tried.at(-1), `${strategy}:ran`, `${text} ${time}`);
      }
  },
);

test.serial(
  'rows without a line are counted with the others where only streams tell their labels',
  async (t) => {
    account += 1;
    const rows = Array.from({ length: 60 }, (_, n) => ({
      _time: new Date(Number((base + BigInt(n) * 60n * second) / 1_000_000n)).toISOString(),
      app: `a${n % 2}`,
      // Every third row has no line, and two of the sixty rows are pushed twice.
      ...(n % 3 === 0 ? { took: String(n) } : { _msg: `line ${n}` }),
    }));
    await store.pushRows(account, [...rows, ...rows.slice(0, 2)], ['app']);
    const whole = 'sum by (app) (count_over_time({app=~".+"} [10m]))';
    const filtered = 'sum by (app) (count_over_time({app=~".+"} |= "1" [10m]))';
    for (const text of [whole, filtered])
      for (const time of ['at first', 'again']) {
        const request = rangeRequest(text, base - 1n + 300n * second, base - 1n + lengthNs, 300n * second);
        let rowsRead = 0;
        const { answer } = await store.run(request, {
          account,
          asked: ({ pipes }) => {
            if (pipes.length === 0) rowsRead += 1;
          },
        });
        const expected = await store.run(request, { account, pushdown: 'off' });
        t.deepEqual(valuesOf(answer), valuesOf(expected.answer), `${text} ${time}`);
        // The rows that were pushed twice are read once for all queries.
        if (text === whole || time === 'again') t.is(rowsRead > 0, time === 'at first', `${text} ${time}`);
      }
  },
);

test.serial('surplus rows are subtracted by stream only where a stream is one in Loki too', async (t) => {
  const rowOf = (n: number, stream: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
    _time: new Date(Number((base + BigInt(n) * 30n * second) / 1_000_000n)).toISOString(),
    _msg: `line ${n}`,
    ...stream,
  });
  const numbers = Array.from({ length: 60 }, (_, n) => n);
  const dotted = numbers.map((n) => rowOf(n, { app: 'a', 'x.y': '1' }));
  // The same entries in a stream whose label has a different name in the backend only.
  const same = numbers.slice(0, 40).map((n) => rowOf(n, { app: 'a', x_y: '1' }));
  for (const [stream, rows] of [
    ['apart', [...dotted, ...dotted]],
    ['as one', [...dotted, ...dotted.slice(30), ...same]],
  ] as const) {
    account += 1;
    await store.pushRows(account, rows, ['app', 'x.y', 'x_y']);
    for (const time of ['at first', 'again']) {
      const { isRight } = await timesAsked(byStream);
      t.true(isRight, `${stream} ${time}`);
    }
  }
});

test.serial('what is known of repeated rows is written as other processes read it', async (t) => {
  account += 1;
  await store.push(account, manyRepeats(false));
  await timesAsked('sum(count_over_time({app=~".+"} != "zq1" [10m]))');
  const { facts } = store.memories;
  const staged = facts.stage();
  let written = 0;
  for (const { names, json } of facts.entries()) {
    staged.add(names, JSON.parse(json));
    written += json.includes('"denseRows":0') ? 0 : 1;
  }
  t.true(written > 0);
});
