import test from 'ava';
import { LabelSet } from '../../../core/base/label-set.js';
import { makeLogAnswer } from '../../../core/testing/index.js';
import type { Answer, AnswerKind, StreamsAnswer } from '../../../core/wire/answer/types.js';
import { labelAnswer } from '../../../plugins/tenancy/tenant-label.js';

const labels = (of: Readonly<Record<string, string>>): LabelSet => LabelSet.from(Object.entries(of));
const withEntry = (
  structuredMetadata: Readonly<Record<string, string>>,
  parsed: Readonly<Record<string, string>>,
): StreamsAnswer => {
  const answer = makeLogAnswer({ app: 'a' }, ['line']);
  const streams = answer.streams.map((stream) => ({
    ...stream,
    entries: stream.entries.map((entry) => ({
      ...entry,
      structuredMetadata: labels(structuredMetadata),
      parsed: labels(parsed),
    })),
  }));
  return { ...answer, streams };
};
/** The labels of the only entry after labelling for tenant `t`. */
const entryOf = (answer: StreamsAnswer, isMerged: boolean): readonly (string | undefined)[] => {
  const labelled = labelAnswer(answer, 't', isMerged) as StreamsAnswer;
  const entry = labelled.streams[0]?.entries[0];
  return [entry?.line, entry?.structuredMetadata.json, entry?.parsed.json];
};

test('streams and label sets get the label of the tenant, and a label of that name gets another', (t) => {
  const streams = labelAnswer(makeLogAnswer({ app: 'a' }, ['line']), 't', false) as StreamsAnswer;
  t.like(streams, { kind: 'streams', stats: { linesProcessed: 1 }, warnings: [] });
  t.is(streams.streams[0]?.labels.json, '{"__tenant_id__":"t","app":"a"}');
  const series: Answer = {
    kind: 'series',
    series: [labels({ app: 'a' }), labels({ __tenant_id__: 'own' })],
    warnings: ['w'],
  };
  t.deepEqual(labelAnswer(series, 't', false), {
    kind: 'series',
    series: [
      labels({ __tenant_id__: 't', app: 'a' }),
      labels({ __tenant_id__: 't', original___tenant_id__: 'own' }),
    ],
    warnings: ['w'],
  });
});

test('metadata and parsed labels of the name of the tenant label get another, each where it stands', (t) => {
  t.deepEqual(entryOf(withEntry({ __tenant_id__: 'm', x: '1' }, { y: '2' }), false), [
    'line',
    '{"original___tenant_id__":"m","x":"1"}',
    '{"y":"2"}',
  ]);
  t.deepEqual(entryOf(withEntry({ x: '1' }, { __tenant_id__: 'p' }), false), [
    'line',
    '{"x":"1"}',
    '{"original___tenant_id__":"p"}',
  ]);
});

test('empty parsed labels are dropped where labels of entries are merged into those of streams', (t) => {
  const answer = withEntry({ x: '' }, { y: '', z: '1' });
  t.deepEqual(entryOf(answer, true), ['line', '{"x":""}', '{"z":"1"}']);
  t.deepEqual(entryOf(answer, false), ['line', '{"x":""}', '{"y":"","z":"1"}']);
});

test('nothing is copied where there is nothing to change', (t) => {
  const answer = withEntry({ x: '1' }, { y: '2' });
  const labelled = labelAnswer(answer, 't', false) as StreamsAnswer;
  t.is(labelled.streams[0]?.entries[0], answer.streams[0]?.entries[0]);
  const merged = labelAnswer(answer, 't', true) as StreamsAnswer;
  t.is(merged.streams[0]?.entries[0]?.parsed, answer.streams[0]?.entries[0]?.parsed);
});

test('listed names have the tenant label under its other name, and other answers stay as they are', (t) => {
  const names = (...values: string[]): Answer => ({ kind: 'names', values, warnings: ['w'] });
  t.deepEqual(labelAnswer(names('__tenant_id__', 'app'), 't', false), names('original___tenant_id__', 'app'));
  const unlabelled = names('app');
  t.is(labelAnswer(unlabelled, 't', false), unlabelled);
  const kinds: readonly Exclude<AnswerKind, 'streams' | 'series' | 'names'>[] = [
    ...(['index-stats', 'volume', 'shards', 'patterns', 'matrix', 'vector', 'scalar'] as const),
    ...(['detected-fields', 'detected-field-values', 'detected-labels', 'formatted'] as const),
    ...(['live', 'tenant', 'several', 'encoded'] as const),
  ];
  for (const kind of kinds) {
    const answer = { kind } as Answer;
    t.is(labelAnswer(answer, 't', false), answer, kind);
  }
});
