import test from 'ava';
import { LabelSet } from '../../../../core/base/label-set.js';
import { doAll } from '../../../../core/base/pace/steps.js';
import { decodeSteps } from '../../../../core/wire/answer/decode.js';
import { encodeAnswer } from '../../../../core/wire/answer/encode.js';
import { noStats } from '../../../../core/wire/answer/merge/shared.js';
import type { Answer } from '../../../../core/wire/answer/types.js';
import type { ApiRequest } from '../../../../core/wire/api/request.js';

const labels = LabelSet.from([
  ['app', 'shop "one"'],
  ['1st', 'é'],
  ['constructor', '__proto__'],
]);
const own = { stats: { ...noStats, linesProcessed: 7, execTimeMs: 1500 }, warnings: ['partial'] };
const points = [
  { timestampMs: 1_793_491_200_000, value: 1.25 },
  { timestampMs: 1_793_491_200_001, value: NaN },
  { timestampMs: 1_793_491_260_000, value: -Infinity },
];
const entry = {
  timestampNs: 1_793_491_200_000_000_001n,
  line: 'a "line"\u2028\\',
  structuredMetadata: LabelSet.from([['trace', 't1']]),
  parsed: LabelSet.from([['level', '']]),
};
const [point] = points;

const answers: readonly (readonly [ApiRequest['op'], Answer])[] = [
  ['query_range', { kind: 'streams', streams: [{ labels, entries: [entry, entry] }], ...own }],
  ['query_range', { kind: 'streams', streams: [], ...own }],
  ['query_range', { kind: 'matrix', series: [{ labels, points }], ...own }],
  ['query', { kind: 'vector', samples: points.slice(0, 1).map((each) => ({ labels, point: each })), ...own }],
  ['query', { kind: 'scalar', point: point ?? { timestampMs: 0, value: 0 }, ...own }],
  ['volume', { kind: 'volume', series: [{ labels, points: points.slice(0, 1) }], ...own }],
  ['volume_range', { kind: 'volume', series: [{ labels, points }], ...own }],
  ['labels', { kind: 'names', values: ['a', 'b'], warnings: [] }],
  ['label_values', { kind: 'names', values: [], warnings: ['w'] }],
  ['series', { kind: 'series', series: [labels, LabelSet.empty], warnings: [] }],
  ['index_stats', { kind: 'index-stats', streams: 1, chunks: 2, bytes: 3, entries: 4, warnings: [] }],
  [
    'patterns',
    {
      kind: 'patterns',
      patterns: [
        { pattern: 'a <_> b', level: 'info', samples: [[1_793_491_200, 3]] },
        { pattern: 'own', level: undefined, samples: [] },
      ],
      warnings: [],
    },
  ],
];

for (const [index, [op, answer]] of answers.entries())
  test(`an encoded ${answer.kind} answer to ${op} is decoded to itself (${index})`, (t) => {
    const { body } = encodeAnswer(answer, { categorizeLabels: true });
    const decoded = doAll(decodeSteps(body.toString('utf8'), { op }));
    t.deepEqual(decoded, answer);
  });

const broken: readonly (readonly [ApiRequest['op'], string])[] = [
  ['query', '{"status":"error","error":"x"}'],
  ['query', '{"status":"success"}'],
  ['query', '{"status":"success","data":{"result":[]}}'],
  ['query', '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,2]}]}}'],
  ['query', '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}'],
  ['query', '{"status":"success","data":{"resultType":"vector","result":[]}'],
  ['labels', '{"status":"success","data":[1]}'],
  ['series', '{"status":"success","data":["a"]}'],
  ['index_stats', '[]'],
  ['index_stats', '{"streams":"1"}'],
  ['detected_fields', '{"fields":[]}'],
  ['labels', '<html>'],
];
for (const [op, text] of broken)
  test(`no answer is made of ${text} for ${op}`, (t) => {
    t.throws(() => doAll(decodeSteps(text, { op })));
  });
