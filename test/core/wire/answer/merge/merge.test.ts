import test from 'ava';
import { answerBytes, mergeAnswers } from '../../../../../core/wire/answer/merge/index.js';
import type { StreamsAnswer } from '../../../../../core/wire/answer/types.js';
import { LabelSet } from '../../../../../core/base/labels/label-set.js';
import { makeLogAnswer } from '../../../../../core/testing/index.js';
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

test('a scalar answer is the same for every part', (t) => {
  const { stats } = makeLogAnswer({}, []);
  const scalar = { kind: 'scalar', point: { timestampMs: 1, value: 2 }, stats, warnings: [] } as const;
  t.deepEqual(mergeAnswers([scalar, scalar], { direction: 'backward' }), scalar);
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
});

test('the size of an answer grows with its text', (t) => {
  const small = answerBytes(makeLogAnswer({ app: 'a' }, ['x']));
  const large = answerBytes(makeLogAnswer({ app: 'a' }, ['x'.repeat(10_000)]));
  t.true(large - small >= 9_999);
});
