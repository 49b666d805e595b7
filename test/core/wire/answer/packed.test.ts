import test from 'ava';
import fc from 'fast-check';
import {
  type CacheableAnswer,
  isCacheable,
  packSteps,
  unpackSteps,
} from '../../../../core/wire/answer/packed.js';
import type { AnswerStats, Entry } from '../../../../core/wire/answer/types.js';
import { LabelSet } from '../../../../core/base/label-set.js';
import { doAll } from '../../../../core/base/pace/steps.js';
import { makeLogAnswer, makeTenant } from '../../../../core/testing/index.js';
import { anyCharacter } from '../../../setup/text.js';
import { indexStatsAnswers, namesAnswers } from './merge/arbitraries.js';

const stats: AnswerStats = { ...makeLogAnswer({}, []).stats, execTimeMs: 1.5 };
// Truncated text contains halves of surrogate pairs.
const texts = fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('\ud800', 'a\udc00b', '__proto__'));
const labelSets = fc
  .dictionary(texts, texts, { maxKeys: 3 })
  .map((set) => LabelSet.from(Object.entries(set)));
const points = fc.record({ timestampMs: fc.double(), value: fc.double() });
const warnings = fc.array(texts, { maxLength: 2 });

const entries: fc.Arbitrary<Entry> = fc.record({
  timestampNs: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  line: texts,
  structuredMetadata: fc.oneof(fc.constant(LabelSet.empty), labelSets),
  parsed: fc.oneof(fc.constant(LabelSet.empty), labelSets),
});

const answers: fc.Arbitrary<CacheableAnswer> = fc.oneof(
  fc
    .record({
      streams: fc.array(fc.record({ labels: labelSets, entries: fc.array(entries) }), { maxLength: 4 }),
      warnings,
    })
    .map((parts): CacheableAnswer => ({ kind: 'streams', ...parts, stats })),
  fc
    .record({
      kind: fc.constantFrom('matrix' as const, 'volume' as const),
      series: fc.array(fc.record({ labels: labelSets, points: fc.array(points) }), { maxLength: 4 }),
      warnings,
    })
    .map((parts): CacheableAnswer => ({ ...parts, stats })),
  fc
    .record({ samples: fc.array(fc.record({ labels: labelSets, point: points })), warnings })
    .map((parts): CacheableAnswer => ({ kind: 'vector', ...parts, stats })),
  points.map((point): CacheableAnswer => ({ kind: 'scalar', point, stats, warnings: [] })),
  fc.array(labelSets).map((series): CacheableAnswer => ({ kind: 'series', series, warnings: [] })),
  namesAnswers.filter(isCacheable),
  indexStatsAnswers.filter(isCacheable),
);

const again = (answer: CacheableAnswer): CacheableAnswer => doAll(unpackSteps(doAll(packSteps(answer))));

test('an answer comes out as it was packed', (t) => {
  fc.assert(fc.property(answers, (answer) => void t.deepEqual(again(answer), answer)));
});

test('what is detected comes out as it was packed', (t) => {
  const detected: readonly CacheableAnswer[] = [
    {
      kind: 'detected-fields',
      fields: [{ label: 'a', type: 'int', parsers: ['json'], jsonPath: undefined, values: ['1', '2'] }],
      limit: 10,
      warnings: [],
    },
    { kind: 'detected-field-values', values: ['a'], limit: 10, warnings: ['partial'] },
    { kind: 'detected-labels', labels: [{ label: 'a', values: ['1'] }], warnings: [] },
    { kind: 'patterns', patterns: [{ pattern: '<_>', level: undefined, samples: [[1, 2]] }], warnings: [] },
    {
      kind: 'shards',
      shards: [{ min: 0n, max: 2n ** 64n - 1n, streams: 1, chunks: 1, bytes: 1, entries: 1 }],
      warnings: [],
    },
  ];
  for (const answer of detected) t.deepEqual(again(answer), answer);
});

const many = 2_600;
const app = LabelSet.from([['app', 'a']]);
const large: readonly CacheableAnswer[] = [
  {
    ...makeLogAnswer(
      { app: 'a' },
      Array.from({ length: many }, (_none, index) => `line ${index}`),
    ),
  },
  {
    kind: 'matrix',
    series: [
      {
        labels: app,
        points: Array.from({ length: many }, (_none, index) => ({ timestampMs: index, value: -0 })),
      },
    ],
    stats,
    warnings: [],
  },
  {
    kind: 'vector',
    samples: Array.from({ length: many }, (_none, index) => ({
      labels: LabelSet.from([['pod', `${index}`]]),
      point: { timestampMs: 1, value: index },
    })),
    stats,
    warnings: [],
  },
  {
    kind: 'series',
    series: Array.from({ length: many }, (_none, index) => LabelSet.from([['pod', `${index}`]])),
    warnings: [],
  },
];

for (const answer of large) {
  test(`a large answer of kind ${answer.kind} is packed and unpacked in steps`, (t) => {
    const steps = (from: Generator<void, unknown, void>): number => [...from].length;
    t.true(steps(packSteps(answer)) > 3);
    t.true(steps(unpackSteps(doAll(packSteps(answer)))) > 3);
    t.deepEqual(again(answer), answer);
  });
}

test('a line with very many labels is packed and unpacked in steps', (t) => {
  const parsed = LabelSet.from(
    Array.from({ length: 20_000 }, (_none, at) => [`label${at}`, `${at}`] as const),
  );
  const answer = makeLogAnswer({ app: 'a' }, ['x']);
  const streams = answer.streams.map((stream) => ({
    ...stream,
    entries: stream.entries.map((entry) => ({ ...entry, parsed })),
  }));
  const steps = [...packSteps({ ...answer, streams })].length;
  t.true(steps > 30);
  t.deepEqual(again({ ...answer, streams }), { ...answer, streams });
});

test('entries that had one set of labels have one again, also over several streams', (t) => {
  const shared = LabelSet.from([['level', 'info']]);
  const answer = makeLogAnswer({ app: 'a' }, ['x', 'y']);
  const streams = [app, LabelSet.from([['app', 'b']])].map((labels) => ({
    labels,
    entries: (answer.streams[0]?.entries ?? []).map((entry) => ({ ...entry, structuredMetadata: shared })),
  }));
  const got = again({ ...answer, streams });
  if (got.kind !== 'streams') return t.fail();
  const sets = got.streams.flatMap((stream) => stream.entries.map((entry) => entry.structuredMetadata));
  t.is(sets.length, 4);
  t.is(new Set(sets).size, 1);
});

test('what is not kept is known', (t) => {
  t.true(isCacheable(makeLogAnswer({}, [])));
  t.false(isCacheable({ kind: 'formatted', query: '{}' }));
  t.false(isCacheable({ kind: 'tenant', tenant: makeTenant() }));
});
