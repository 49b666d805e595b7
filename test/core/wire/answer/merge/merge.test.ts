import test from 'ava';
import { answerBytes, mergeAnswers } from '../../../../../core/wire/answer/merge/index.js';
import type {
  Answer,
  MatrixAnswer,
  StreamsAnswer,
  VectorAnswer,
} from '../../../../../core/wire/answer/types.js';
import type { Heat } from '../../../../../core/wire/answer/rank.js';
import { spreadShards } from '../../../../../core/wire/answer/merge/spread-shards.js';
import { LabelSet } from '../../../../../core/base/label-set.js';
import { makeLogAnswer, makeTenant } from '../../../../../core/testing/index.js';
import { mergeStreams } from './arbitraries.js';

const linesOf = (answer: StreamsAnswer): string[] =>
  answer.streams.flatMap((stream) => stream.entries.map((entry) => entry.line));

test('streams with the same labels are joined and their entries ordered by direction', (t) => {
  const parts = [
    makeLogAnswer({ app: 'a' }, ['new', 'old']),
    makeLogAnswer({ app: 'a' }, ['third', 'second', 'first']),
  ];
  const backward = mergeStreams(parts, { direction: 'backward' });
  t.is(backward.streams.length, 1);
  t.deepEqual(linesOf(backward), ['third', 'new', 'second', 'old', 'first']);
  t.deepEqual(linesOf(mergeStreams(parts, { direction: 'forward' })), [
    'old',
    'first',
    'new',
    'second',
    'third',
  ]);
});

test('equal entries of two parts are both kept unless overlap is to be ignored', (t) => {
  const part = makeLogAnswer({ app: 'a' }, ['line']);
  t.deepEqual(linesOf(mergeStreams([part, part], { direction: 'backward' })), ['line', 'line']);
  t.deepEqual(linesOf(mergeStreams([part, part], { direction: 'backward', overlap: 'dedupe' })), ['line']);
});

test('an entry that was stored twice stays twice when overlap is ignored', (t) => {
  const [stream] = makeLogAnswer({ app: 'a' }, ['line']).streams;
  const [entry] = stream?.entries ?? [];
  if (stream === undefined || entry === undefined) return t.fail('the test kit made no entry');
  const twice = { ...makeLogAnswer({}, []), streams: [{ ...stream, entries: [entry, entry] }] };
  const merged = mergeStreams([twice, makeLogAnswer({ app: 'a' }, ['line'])], {
    direction: 'backward',
    overlap: 'dedupe',
  });
  t.deepEqual(linesOf(merged), ['line', 'line']);
});

test('entries that differ only in metadata are different entries', (t) => {
  const plain = makeLogAnswer({ app: 'a' }, ['line']);
  const streams = plain.streams.map((stream) => ({
    ...stream,
    entries: stream.entries.map((entry) => ({
      ...entry,
      structuredMetadata: LabelSet.from([['trace_id', '1']]),
    })),
  }));
  const merged = mergeStreams([plain, { ...plain, streams }], { direction: 'backward', overlap: 'dedupe' });
  t.is(merged.stats.entriesReturned, 2);
});

test('costs are added up, the time is the longest, and the entries are counted after the cut', (t) => {
  const part = makeLogAnswer({ app: 'a' }, ['b', 'a']);
  const slow = { ...part, stats: { ...part.stats, execTimeMs: 7, bytesProcessed: 10 } };
  const { stats } = mergeStreams([part, slow, slow], { direction: 'backward', limit: 3 });
  t.like(stats, { linesProcessed: 6, bytesProcessed: 20, execTimeMs: 7, entriesReturned: 3, splits: 3 });
});

const { stats } = makeLogAnswer({}, []);
const anyDirection = { direction: 'backward' } as const;
const labelled = (app: string): LabelSet => LabelSet.from([['app', app]]);

test('entries of one timestamp stand in the order of the parts, in both directions, also many', (t) => {
  const at = (line: string) => makeLogAnswer({ app: 'a' }, [line]);
  for (const direction of ['forward', 'backward'] as const) {
    t.deepEqual(linesOf(mergeStreams([at('b'), at('a'), at('c')], { direction })), ['b', 'a', 'c']);
    const lines = Array.from({ length: 1200 }, (_, index) => String(index % 7));
    t.deepEqual(linesOf(mergeStreams(lines.map(at), { direction })), lines);
  }
});

test('at one timestamp the limit keeps entries of the stream whose labels sort first', (t) => {
  const parts = ['c', 'a', 'b'].map((app) => makeLogAnswer({ app }, [app]));
  t.deepEqual(linesOf(mergeStreams(parts, { direction: 'backward', limit: 2 })), ['a', 'b']);
});

test('an answer that depends on the question only is the same for every part', (t) => {
  const scalar = { kind: 'scalar', point: { timestampMs: 1, value: 2 }, stats, warnings: [] } as const;
  const formatted = { kind: 'formatted', query: '{a="b"}' } as const;
  const tenant = { kind: 'tenant', tenant: makeTenant('a') } as const;
  for (const answer of [scalar, formatted, tenant])
    t.is(mergeAnswers([answer, { ...answer }], anyDirection), answer);
});

test('points of windows are sorted by time, and of two at one time the first counts', (t) => {
  const window = (...points: readonly (readonly [timestampMs: number, value: number])[]): MatrixAnswer => ({
    kind: 'matrix',
    series: [
      { labels: labelled('a'), points: points.map(([timestampMs, value]) => ({ timestampMs, value })) },
    ],
    stats,
    warnings: ['w'],
  });
  t.like(mergeAnswers([window([30, 3], [40, 4]), window([10, 1], [30, 9])], anyDirection), {
    kind: 'matrix',
    series: [{ points: window([10, 1], [30, 3], [40, 4]).series[0]?.points }],
    stats: { splits: 2 },
    warnings: ['w'],
  });
});

test('of two samples with the same labels the first counts', (t) => {
  const part = (app: string, value: number): VectorAnswer => ({
    kind: 'vector',
    samples: [{ labels: labelled(app), point: { timestampMs: 1, value } }],
    stats,
    warnings: ['w'],
  });
  t.like(mergeAnswers([part('b', 1), part('a', 2), part('b', 3)], anyDirection), {
    kind: 'vector',
    samples: [...part('b', 1).samples, ...part('a', 2).samples],
    stats: { splits: 3 },
    warnings: ['w'],
  });
});

test('names of all parts are listed once and sorted', (t) => {
  const part = (...values: string[]): Answer => ({ kind: 'names', values, warnings: ['w'] });
  t.deepEqual(mergeAnswers([part('b', 'c'), part('a', 'b')], anyDirection), {
    ...part('a', 'b', 'c'),
    warnings: ['w'],
  });
});

test('a ranked name is as hot as where it is hottest, and unranked ones come last', (t) => {
  const ranked = (values: readonly string[], heat: readonly Heat[]): Answer => ({
    kind: 'names',
    values,
    heat,
    warnings: [],
  });
  const [warm, hot] = [
    { seen: 2, lastMs: 5 },
    { seen: 3, lastMs: 1 },
  ];
  const parts = [ranked(['b', 'c'], [hot, warm]), ranked(['c', 'b'], [hot, warm])];
  const plain: Answer = { kind: 'names', values: ['a', 'b'], warnings: ['w'] };
  const cold = { seen: 0, lastMs: 0 };
  t.deepEqual(mergeAnswers([...parts, plain], anyDirection), {
    ...ranked(['b', 'c', 'a'], [hot, hot, cold]),
    warnings: ['w'],
  });
});

test('label sets of all parts are listed once, in order of appearance', (t) => {
  const part = (...apps: string[]): Answer => ({
    kind: 'series',
    series: apps.map(labelled),
    warnings: ['w'],
  });
  t.deepEqual(mergeAnswers([part('b', 'a'), part('c', 'b')], anyDirection), part('b', 'a', 'c'));
});

test('counters of all parts are added up, one by one', (t) => {
  const part = { kind: 'index-stats', streams: 1, chunks: 2, bytes: 3, entries: 4, warnings: ['w'] } as const;
  t.deepEqual(mergeAnswers([part, part], anyDirection), {
    ...part,
    streams: 2,
    chunks: 4,
    bytes: 6,
    entries: 8,
  });
});

test('answers of different kinds, encoded ones and none at all are a defect of the caller', (t) => {
  const names = { kind: 'names', values: [], warnings: [] } as const;
  const encoded = {
    kind: 'encoded',
    status: 200,
    contentType: 'application/json',
    headers: new Map<string, string>(),
    body: Buffer.alloc(0),
  } as const;
  const options = { direction: 'backward' } as const;
  t.throws(() => mergeAnswers([names, makeLogAnswer({}, [])], options), {
    message: /cannot merge a streams answer/,
  });
  t.throws(() => mergeAnswers([encoded], options), { message: /encoded answers cannot be merged/ });
  t.throws(() => mergeAnswers([], options), { message: 'nothing to merge' });
  t.throws(() => mergeAnswers([{ kind: 'several', answers: [] }], options), {
    message: /taken apart by the stage that gathered them/,
  });
  const live = { kind: 'live' } as Answer;
  t.throws(() => mergeAnswers([live], options), { message: 'live answers cannot be merged' });
});

test('the size of an answer grows with its text', (t) => {
  const small = answerBytes(makeLogAnswer({ app: 'a' }, ['x']));
  const large = answerBytes(makeLogAnswer({ app: 'a' }, ['x'.repeat(10_000)]));
  t.true(large - small >= 9_999);
});

test('answers about what is stored are merged into one of their kind', (t) => {
  const answers: readonly Answer[] = [
    { kind: 'volume', series: [], stats, warnings: [] },
    { kind: 'detected-fields', fields: [], limit: 1, warnings: [] },
    { kind: 'detected-field-values', values: ['a'], limit: 1, warnings: [] },
    { kind: 'detected-labels', labels: [{ label: 'app', values: ['a'] }], warnings: [] },
    { kind: 'patterns', patterns: [], warnings: [] },
    {
      kind: 'shards',
      shards: spreadShards({ streams: 1, chunks: 1, bytes: 0, entries: 0 }, 1),
      warnings: [],
    },
  ];
  for (const answer of answers) t.deepEqual(mergeAnswers([answer], anyDirection), answer);
  const streams = mergeAnswers([makeLogAnswer({}, ['a']), makeLogAnswer({}, ['b'])], anyDirection);
  t.like(streams, { kind: 'streams', stats: { entriesReturned: 2 } });
  const shards = answers.filter(({ kind }) => kind === 'shards');
  t.like(mergeAnswers([...shards, ...shards], anyDirection), { shards: [{ streams: 2 }] });
});
