import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { LabelSet } from '../../../../core/base/label-set.js';
import {
  defaultMetricLimits,
  evaluateMetric,
  type LeafRequest,
  type LeafSource,
  type SeriesRow,
} from '../../../../core/logql/metric/index.js';
import { evaluate, instant, metricExpr, range, samplesOf, type ShortEntry } from './run-query.js';

const limitText = (limit: number): string =>
  `maximum number of series (${limit}) reached for a single query; consider reducing query cardinality by adding more specific stream selectors, reducing the time range, or aggregating results with functions like sum(), count() or topk()`;

const three: readonly ShortEntry[] = ['p', 'q', 'r'].map((pod) => [5, 'a', { pod }]);
const count = 'count_over_time({app="a"}[10s])';

test('an answer of more series than allowed is refused, one of as many is not', async (t) => {
  for (const grid of [instant(10), range(10, 20, 10)]) {
    for (const query of [count, `sum by (pod) (${count})`, `max by (pod) (${count})`, `${count} * 2`]) {
      const error = await t.throwsAsync(evaluate(query, three, grid, { maxSeries: 2 }), {
        instanceOf: ApiError,
      });
      t.is(error.message, limitText(2));
      t.is(error.status, 400);
      await t.notThrowsAsync(evaluate(query, three, grid, { maxSeries: 3 }));
      await t.notThrowsAsync(evaluate(query, three, grid, { maxSeries: 0 }));
    }
  }
});

test('a partial answer has the busiest series, of equal ones the first by labels, and a warning', async (t) => {
  const result = await evaluate(count, three, instant(10), { maxSeries: 2, isPartial: true });
  t.deepEqual(result.warnings, [
    'maximum number of series (2) reached for a single query; returning partial results',
  ]);
  t.deepEqual(result.kind === 'vector' && result.samples.map(({ labels }) => labels.get('pod')), ['p', 'q']);
  for (const query of [`sum by (pod) (${count})`, `max by (pod) (${count})`, `${count} * 2`]) {
    const other = await evaluate(query, three, instant(10), { maxSeries: 2, isPartial: true });
    t.deepEqual([other.kind === 'vector' && other.samples.length, other.warnings.length], [2, 1], query);
  }
  const whole = await evaluate(count, three, instant(10), { maxSeries: 3, isPartial: true });
  t.deepEqual(whole.warnings, []);
});

test('series inside of a query count where Loki sends them on, but not where it adds them up', async (t) => {
  const limits = { maxSeries: 2 };
  for (const op of ['sum', 'avg', 'min', 'max', 'count']) {
    await t.notThrowsAsync(evaluate(`${op}(${count})`, three, instant(10), limits), op);
  }
  for (const query of [
    `stddev(${count})`,
    `topk(1, ${count})`,
    `max(sum by (pod) (${count}))`,
    `sum(label_replace(${count}, "x", "y", "", ""))`,
    `sum(${count} * 2)`,
  ]) {
    await t.throwsAsync(evaluate(query, three, instant(10), limits), { message: limitText(2) }, query);
    await t.notThrowsAsync(evaluate(query, three, instant(10), { ...limits, isPartial: true }), query);
  }
});

test('each hour of a range counts its series on its own', async (t) => {
  const [p, q, r]: readonly [ShortEntry, ShortEntry, ShortEntry] = [
    [3585, 'a', { pod: 'p' }],
    [3586, 'a', { pod: 'q' }],
    [3605, 'a', { pod: 'r' }],
  ];
  const run = (entries: readonly ShortEntry[], limits: object): Promise<unknown> =>
    evaluate(`stddev(${count})`, entries, range(3580, 3620, 10), { maxSeries: 1, ...limits });
  await t.notThrowsAsync(run([p, r], {}));
  await t.throwsAsync(run([p, q], {}), { message: limitText(1) });
  await t.throwsAsync(run([p, r], { splitMs: 0 }), { message: limitText(1) });
  await t.throwsAsync(run([p, r], { splitMs: 7_200_000 }), { message: limitText(1) });
});

const faulty: readonly ShortEntry[] = [
  [5, 'v=1', { pod: 'p' }],
  [15, 'v=one', { pod: 'q' }],
];
const unwrap = 'sum by (pod) (sum_over_time({app="a"} | logfmt | unwrap v [4s]))';

test('an entry with an error fails the query, with all of its labels, unless no window sees it', async (t) => {
  const error = await t.throwsAsync(evaluate(unwrap, faulty, range(8, 16, 8)), { instanceOf: ApiError });
  t.is(error.status, 400);
  t.is(
    error.message,
    `pipeline error: 'SampleExtractionErr' for series: '{__error__="SampleExtractionErr", __error_details__="strconv.ParseFloat: parsing \\"one\\": invalid syntax", app="a", pod="q", v="one"}'.
Use a label filter to intentionally skip this error. (e.g | __error__!="SampleExtractionErr").
To skip all potential errors you can match empty errors.(e.g __error__="")
The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )
`,
  );
  t.deepEqual(await samplesOf(unwrap, faulty, range(8, 8, 8)), { '{pod="p"}': { 8: 1 } });
  t.deepEqual(await samplesOf(unwrap, faulty, range(10, 20, 10)), {});
});

test('a cancelled evaluation stops', async (t) => {
  const stop = new AbortController();
  stop.abort(new Error('gone'));
  const waiting: LeafSource = {
    series: ({ signal }) => {
      signal.throwIfAborted();
      return Promise.resolve({ rows: [] });
    },
  };
  const expr = metricExpr(count);
  await t.throwsAsync(evaluateMetric(expr, instant(10), waiting, defaultMetricLimits, stop.signal), {
    message: 'gone',
  });
});

test('when one side of an operation fails the other is stopped, and the failure is the one told', async (t) => {
  let stopped = false;
  const source: LeafSource = {
    series: async ({ leaf, signal }) => {
      if (leaf.range.op === 'rate') throw new Error('the backend is down');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      stopped = true;
      signal.throwIfAborted();
      return { rows: [] };
    },
  };
  const expr = metricExpr('count_over_time({app="a"}[1m]) / rate({app="a"}[1m])');
  const evaluation = evaluateMetric(
    expr,
    instant(10),
    source,
    defaultMetricLimits,
    new AbortController().signal,
  );
  await t.throwsAsync(evaluation, { message: 'the backend is down' });
  t.true(stopped);
});

test('a source may deliver the parts of a pushed sum one by one', async (t) => {
  const requests: LeafRequest[] = [];
  const row = (pod: string, value: number): SeriesRow => ({
    labels: LabelSet.from([['pod', pod]]),
    values: Float64Array.of(value, value),
    present: Uint8Array.of(1, 0),
  });
  const source: LeafSource = {
    series: (request) => {
      requests.push(request);
      return Promise.resolve({ rows: [row('p', 1), row('q', 2), row('p', 4)] });
    },
  };
  const grid = range(10, 20, 10);
  const signal = new AbortController().signal;
  const result = await evaluateMetric(
    metricExpr(`sum by (pod) (${count})`),
    grid,
    source,
    defaultMetricLimits,
    signal,
  );
  t.deepEqual(
    result.kind === 'matrix' && result.series.map(({ labels, points }) => [labels.get('pod'), points]),
    [
      ['p', [{ timestampMs: 10_000, value: 5 }]],
      ['q', [{ timestampMs: 10_000, value: 2 }]],
    ],
  );
  t.deepEqual(requests[0]?.leaf.pushed?.labels, ['pod']);
  t.is(requests[0]?.columns.count, 2);
});

test('labels with empty values tell series apart, and are not shown where Loki puts parts of a query together', async (t) => {
  const entries: readonly ShortEntry[] = [
    [5, 'n=1 x='],
    [6, 'n=2'],
    [7, 'n=3 x=y'],
  ];
  const counted = 'count_over_time({app="a"} | logfmt --keep-empty | keep x [10s])';
  const shown = async (query: string): Promise<readonly string[]> => {
    const result = await evaluate(query, entries, instant(10));
    if (result.kind !== 'vector') return [];
    return result.samples.map(({ labels, point }) => `${labels.json} ${point.value}`).sort();
  };
  t.deepEqual(await shown(`sum by (x) (${counted})`), ['{"x":""} 1', '{"x":"y"} 1', '{} 1']);
  t.deepEqual(await shown(counted), ['{"x":"y"} 1', '{} 1', '{} 1']);
  t.deepEqual(await shown(`max by (x) (${counted})`), ['{"x":"y"} 1', '{} 1']);
  t.deepEqual(await shown(`count by (x) (${counted})`), ['{"x":"y"} 1', '{} 2']);
});

test('labels with empty values are shown, but where label sets are made from others', async (t) => {
  const entries: readonly ShortEntry[] = [
    [5, 'n=1 x='],
    [6, 'n=2'],
  ];
  const logs = '{app="a"} | logfmt --keep-empty';
  const counted = `count_over_time(${logs} [10s])`;
  const empties = async (query: string): Promise<number> => {
    const result = await evaluate(query, entries, instant(10));
    if (result.kind !== 'vector') return -1;
    return result.samples.filter(({ labels }) => labels.has('x')).length;
  };
  const shown = [
    counted,
    `sort(1 + ${counted})`,
    `${counted} or vector(1)`,
    `max by (x) (${counted})`,
    `count_over_time(${logs} | label_format y="" [10s])`,
    `avg_over_time(${logs} | unwrap n [10s])`,
    `stddev_over_time(${logs} | drop a | unwrap n [10s])`,
    `last_over_time(${logs} | unwrap n [10s]) without (a)`,
    `max_over_time(${logs} | unwrap n [10s]) by (x)`,
    `avg_over_time(${logs} | unwrap n | n!="" and __error__="" [10s]) by (x)`,
  ];
  for (const query of shown) t.is(await empties(query), 1, query);
  const lost = [
    `sum without (n) (${counted})`,
    `max without (n) (${counted})`,
    `${counted} + ${counted}`,
    `${counted} + on (n) group_left ${counted}`,
    `label_replace(${counted}, "z", "$1", "n", "(.*)")`,
    `count_over_time(${logs} | drop a [10s])`,
    `count_over_time(${logs} | label_format y=n [10s])`,
    `avg_over_time(${logs} | unwrap n [10s]) by (x)`,
    `max_over_time(${logs} | unwrap n [10s]) without (a)`,
  ];
  for (const query of lost) t.is(await empties(query), 0, query);
});

/** Rows that advance a clock each time their samples are read, and less each time their labels are read. */
function slowRows(count: number, spend: (ms: number) => void): readonly SeriesRow[] {
  return Array.from({ length: count }, (_none, index) => {
    const labels = LabelSet.from([['pod', String((index * 7_919) % count)]]);
    const values = new Float64Array([index % 97]);
    const present = new Uint8Array([1]);
    return {
      values,
      get labels() {
        spend(0.0002);
        return labels;
      },
      get present() {
        spend(0.003);
        return present;
      },
    };
  });
}

test.serial('whatever is done with many series, others have their turns', async (t) => {
  const clock = performance.now.bind(performance);
  let nowMs = clock();
  let beganAt = nowMs;
  let longestMs = 0;
  performance.now = () => nowMs;
  let timer: NodeJS.Immediate;
  const endTurn = (): void => {
    longestMs = Math.max(longestMs, nowMs - beganAt);
    beganAt = nowMs;
    timer = setImmediate(endTurn);
  };
  timer = setImmediate(endTurn);
  t.teardown(() => {
    performance.now = clock;
    clearImmediate(timer);
  });
  const source: LeafSource = {
    series: () =>
      Promise.resolve({
        rows: slowRows(20_000, (ms) => {
          nowMs += ms;
        }),
        isGrouped: true,
      }),
  };
  const limits = { ...defaultMetricLimits, maxSeries: 0 };
  const { signal } = new AbortController();
  const other = 'count_over_time({app="b"}[10s])';
  const queries = [
    count,
    `topk(3, ${count})`,
    `sort_desc(${count})`,
    `sum by (pod) (${count})`,
    `${count} / ${other}`,
    `${count} or ${other}`,
    `label_replace(${count}, "a", "$1", "pod", "(.*)")`,
  ];
  for (const query of queries) {
    longestMs = 0;
    await new Promise((resolve) => setImmediate(resolve));
    const result = await evaluateMetric(metricExpr(query), instant(10), source, limits, signal);
    t.is(result.kind, 'vector');
    // The limit is one slice of the turn, plus the longest step of a sort.
    t.true(longestMs < 30, `${query}: ${longestMs.toFixed(0)} ms`);
  }
});
