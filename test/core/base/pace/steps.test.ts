import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import { encodeAnswer, encodeSteps } from '../../../../core/wire/answer/encode.js';
import { encodeLegacySteps } from '../../../../core/wire/answer/encode-legacy.js';
import {
  answerBytes,
  mergeAnswers,
  mergeSteps,
  weighAnswer,
} from '../../../../core/wire/answer/merge/index.js';
import { noStats } from '../../../../core/wire/answer/merge/shared.js';
import type { Answer } from '../../../../core/wire/answer/types.js';
import { LabelSet } from '../../../../core/base/label-set.js';
import { atPace, Pacer, sortSteps, type Steps } from '../../../../core/base/pace/steps.js';
import { makeLogAnswer } from '../../../../core/testing/index.js';
import { decodeListing, decodeStats, decodeStatsRange } from '../../../../core/victoria/upstream/decode.js';

function counted<Result>(steps: Steps<Result>): { readonly steps: number; readonly result: Result } {
  for (let count = 1; ; count += 1) {
    const { done, value } = steps.next();
    if (done === true) return { steps: count, result: value };
  }
}

test.serial(
  'a list sorted step by step is what sorting it at once gives, in order of coming where equal',
  (t) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_000 }), fc.integer({ min: 1, max: 50 }), (length, values) => {
        const items = Array.from({ length }, (_none, index) => ({ key: (index * 7919) % values, index }));
        const compare = (a: { readonly key: number }, b: { readonly key: number }): number => a.key - b.key;
        const { result } = counted(sortSteps([...items], compare));
        t.true(isDeepStrictEqual(result, items.toSorted(compare)));
      }),
      { numRuns: 20 },
    );
    const items = Array.from({ length: 20_000 }, (_none, index) => (index * 7919) % 20_011);
    t.true(counted(sortSteps(items, (a, b) => a - b)).steps > 10);
  },
);

const oddTexts = ['plain', 'a"b', '\\', '\\"', '},{', '],', '{"values":[', '\u{1f600}', ''];

test.serial('a long listing is read piece by piece, and as a short one would be', (t) => {
  const values = Array.from({ length: 12_000 }, (_none, index) => ({
    value: `${oddTexts[index % oddTexts.length] ?? ''}${index}`,
    hits: index,
  }));
  for (const text of [
    JSON.stringify({ values }),
    JSON.stringify({ before: ['x'], values, behind: [{}] }, null, 1),
  ]) {
    const { steps, result } = counted(decodeListing(text));
    t.true(isDeepStrictEqual(result, values));
    t.true(steps > 40);
    t.throws(() => counted(decodeListing(text.slice(0, -3))), { message: /^request timed out/ });
    t.throws(() => counted(decodeListing(text.slice(0, 200_000))), { message: /^request timed out/ });
  }
});

test.serial('long statistics are read piece by piece', (t) => {
  const result = Array.from({ length: 3_000 }, (_none, index) => ({
    metric: { __name__: 'rows', pod: `pod-${index} ${oddTexts[index % oddTexts.length] ?? ''}` },
    value: [1, String(index)],
  }));
  const text = JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
  const decoded = counted(decodeStats(text));
  t.is(decoded.result.length, 3_000);
  t.is(decoded.result[2_999]?.value, '2999');
  t.is(decoded.result[2_000]?.labels.get('pod'), result[2_000]?.metric.pod);
  t.true(decoded.steps > 5);
});

test.serial('a few series of many points are read one by one', (t) => {
  const series = 20;
  const values = Array.from({ length: 5_000 }, (_none, index) => [index, String(index)]);
  const result = Array.from({ length: series }, (_none, index) => ({
    metric: { __name__: 'rows', pod: `pod-${index}` },
    values,
  }));
  const decoded = counted(
    decodeStatsRange(JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } })),
  );
  t.is(decoded.result[series - 1]?.points.length, values.length);
  t.true(decoded.steps > 1.8 * series, `they are cut out and read in ${decoded.steps} steps`);
});

test.serial('a large answer is encoded in steps', (t) => {
  const labels = (index: number): LabelSet => LabelSet.from([['pod', `pod-${index}`]]);
  const answers: readonly Answer[] = [
    {
      kind: 'streams',
      streams: Array.from({ length: 3_000 }, (_none, index) => ({
        labels: labels(index),
        entries: [
          {
            timestampNs: BigInt(index),
            line: 'l'.repeat(100),
            structuredMetadata: LabelSet.empty,
            parsed: LabelSet.empty,
          },
        ],
      })),
      stats: noStats,
      warnings: [],
    },
    {
      kind: 'matrix',
      series: [
        {
          labels: labels(1),
          points: Array.from({ length: 20_000 }, (_none, index) => ({
            timestampMs: index * 1000,
            value: index,
          })),
        },
      ],
      stats: noStats,
      warnings: [],
    },
    { kind: 'series', series: Array.from({ length: 20_000 }, (_none, index) => labels(index)), warnings: [] },
  ];
  for (const answer of answers) {
    for (const categorizeLabels of [true, false]) {
      const { steps, result } = counted(encodeSteps(answer, { categorizeLabels }));
      t.true(steps > 3, answer.kind);
      t.true(isDeepStrictEqual(result, encodeAnswer(answer, { categorizeLabels })));
      t.notThrows(() => JSON.parse(result.body.toString('utf8')) as unknown);
    }
  }
});

test.serial('many streams of a few entries with labels of their own are encoded in steps', (t) => {
  const own = (index: number): LabelSet =>
    LabelSet.from(
      Array.from({ length: 10 }, (_none, label) => [`label_${label}`, `${index} ${label}`] as const),
    );
  const answer: Answer = {
    kind: 'streams',
    streams: Array.from({ length: 200 }, (_none, stream) => ({
      labels: LabelSet.from([['app', `a${stream}`]]),
      entries: Array.from({ length: 20 }, (_nothing, entry) => ({
        timestampNs: BigInt(entry),
        line: 'line',
        structuredMetadata: own(stream * 20 + entry),
        parsed: LabelSet.empty,
      })),
    })),
    stats: noStats,
    warnings: [],
  };
  const { steps } = counted(encodeSteps(answer, { categorizeLabels: false }));
  t.true(steps > (200 * 20 * 10) / 500, `${steps} steps for 40,000 labels`);
});

const many = 20_000;
const largeAnswers: readonly Answer[] = [
  makeLogAnswer(
    { app: 'a' },
    Array.from({ length: many }, (_none, index) => `line ${index}`),
  ),
  { kind: 'names', values: Array.from({ length: many }, (_none, index) => `name ${index}`), warnings: [] },
  {
    kind: 'series',
    series: Array.from({ length: many }, (_none, index) => LabelSet.from([['pod', `pod-${index}`]])),
    warnings: [],
  },
  {
    kind: 'volume',
    series: Array.from({ length: many }, (_none, index) => ({
      labels: LabelSet.from([['pod', `pod-${index}`]]),
      points: [{ timestampMs: 0, value: index }],
    })),
    stats: noStats,
    warnings: [],
  },
  {
    kind: 'detected-field-values',
    values: Array.from({ length: many }, (_none, index) => `value ${index}`),
    limit: many,
    warnings: [],
  },
];

for (const answer of largeAnswers) {
  test.serial(`large answers of kind ${answer.kind} are merged in steps`, (t) => {
    const options = { direction: 'backward' } as const;
    const { steps, result } = counted(mergeSteps([answer, answer], options));
    t.true(steps > 40);
    t.true(isDeepStrictEqual(result, mergeAnswers([answer, answer], options)));
  });
}

test.serial('a large legacy answer is encoded in steps', (t) => {
  const [logs] = largeAnswers;
  if (logs === undefined) return t.fail();
  const options = { categorizeLabels: false, direction: 'backward' } as const;
  const { steps, result } = counted(encodeLegacySteps(logs, options));
  t.true(steps > 40);
  t.is(
    (JSON.parse(result.body.toString()) as { streams: { entries: unknown[] }[] }).streams[0]?.entries.length,
    many,
  );
});

test.serial('a large answer is weighed in steps, once', async (t) => {
  class Counting extends Pacer {
    asked = 0;
    override due(): undefined {
      this.asked += 1;
    }
  }
  const pacer = new Counting();
  const answer: Answer = {
    kind: 'series',
    series: Array.from({ length: 20_000 }, (_none, index) => LabelSet.from([['pod', `pod-${index}`]])),
    warnings: [],
  };
  const bytes = await weighAnswer(answer, pacer);
  t.true(pacer.asked > 20);
  t.is(answerBytes({ ...answer }), bytes);
  const { asked } = pacer;
  t.is(await weighAnswer(answer, pacer), bytes);
  t.is(pacer.asked, asked);
});

test.serial('steps give others their turn, and end with the request', async (t) => {
  const stop = new AbortController();
  const pacer = new Pacer(stop.signal);
  function* endless(): Steps<never> {
    for (;;) yield;
  }
  setImmediate(() => stop.abort(new Error('gone')));
  await t.throwsAsync(atPace(endless(), pacer), { message: 'gone' });
});

test.serial(
  'however many computations run at once, they share the slice of a turn and all of them end',
  async (t) => {
    const clock = performance.now.bind(performance);
    // Starts at a whole millisecond: sums of fractions are rounded, which occasionally lengthens a slice by one step.
    let nowMs = Math.ceil(clock());
    performance.now = () => nowMs;
    t.teardown(() => {
      performance.now = clock;
    });
    let inTurn = 0;
    let most = 0;
    let isOver = false;
    const endTurn = (): void => {
      most = Math.max(most, inTurn);
      inTurn = 0;
      if (!isOver) setImmediate(endTurn);
    };
    setImmediate(endTurn);
    function* work(): Steps<number> {
      for (let step = 1; step <= 20; step += 1) {
        nowMs += 1;
        inTurn += 1;
        yield;
      }
      return 20;
    }
    await new Promise((resolve) => setImmediate(resolve));
    const ends: number[] = [];
    const done = await Promise.all(
      Array.from({ length: 50 }, async (_none, index) => {
        // Start one per turn, as requests arrive from the network, not all at once.
        for (let turn = 0; turn < index; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        const steps = await atPace(work(), new Pacer());
        ends.push(index);
        return steps;
      }),
    );
    isOver = true;
    t.is(
      done.reduce((sum, steps) => sum + steps, 0),
      1_000,
    );
    t.is(ends[0], 0);
    t.true(most <= 6, `${most} steps in one turn`);
  },
);
