import test from 'ava';
import fc from 'fast-check';
import { mergeAnswers } from '../../../../../core/wire/answer/merge/index.js';
import type {
  Answer,
  DetectedField,
  DetectedFieldsAnswer,
  PatternsAnswer,
  VolumeAnswer,
} from '../../../../../core/wire/answer/types.js';
import { spreadShards } from '../../../../../core/wire/answer/merge/spread-shards.js';
import { LabelSet } from '../../../../../core/base/label-set.js';

const stats = {
  linesProcessed: 1,
  bytesProcessed: 2,
  entriesReturned: 0,
  postFilterLines: 1,
  structuredMetadataBytes: 0,
  execTimeMs: 1,
  splits: 1,
};
const warnings: readonly string[] = [];
const names = fc.constantFrom('a', 'b', 'c', 'd');
const values = fc.uniqueArray(names);

const volumes: fc.Arbitrary<VolumeAnswer> = fc
  .uniqueArray(fc.tuple(names, fc.dictionary(fc.constantFrom('1', '2', '3'), fc.nat(50), { minKeys: 1 })), {
    selector: ([name]) => name,
  })
  .map((series) => ({
    kind: 'volume',
    series: series.map(([name, points]) => ({
      labels: LabelSet.from([['app', name]]),
      points: Object.entries(points).map(([time, value]) => ({ timestampMs: Number(time), value })),
    })),
    stats,
    warnings,
  }));

const fields: fc.Arbitrary<DetectedField> = fc.record({
  label: names,
  type: fc.constantFrom('int' as const, 'string' as const),
  parsers: fc.constantFrom([], ['json'] as const, ['logfmt'] as const),
  jsonPath: fc.constantFrom(undefined, ['x']),
  values,
});
const detected = (limit: number): fc.Arbitrary<DetectedFieldsAnswer> =>
  fc
    .uniqueArray(fields, { selector: ({ label }) => label, maxLength: limit })
    .map((found) => ({ kind: 'detected-fields', fields: found, limit, warnings }));

const patterns: fc.Arbitrary<PatternsAnswer> = fc
  .uniqueArray(
    fc.record({
      pattern: names,
      level: fc.constantFrom(undefined, 'info', 'warn'),
      samples: fc.uniqueArray(fc.tuple(fc.nat(3), fc.nat(5)), { selector: ([time]) => time }),
    }),
    { selector: ({ pattern, level }) => `${pattern} ${level ?? ''}` },
  )
  .map((found) => ({
    kind: 'patterns',
    patterns: found.map((one) => ({ ...one, samples: one.samples.sort(([a], [b]) => a - b) })),
    warnings,
  }));

const kinds: Readonly<Record<string, fc.Arbitrary<Answer>>> = {
  volume: volumes,
  'detected-fields': detected(3),
  'detected-field-values': fc
    .uniqueArray(names, { maxLength: 2 })
    .map((found) => ({ kind: 'detected-field-values', values: found, limit: 2, warnings })),
  'detected-labels': fc
    .uniqueArray(fc.record({ label: names, values }), { selector: ({ label }) => label })
    .map((labels) => ({ kind: 'detected-labels', labels, warnings })),
  patterns,
  shards: fc.tuple(fc.nat(1000), fc.constantFrom(1, 2, 4)).map(([bytes, count]) => ({
    kind: 'shards',
    shards: spreadShards({ streams: bytes, chunks: bytes, bytes, entries: bytes }, count),
    warnings,
  })),
};

const merge = (...answers: readonly Answer[]): Answer => mergeAnswers(answers, { direction: 'backward' });

for (const [kind, answers] of Object.entries(kinds)) {
  test(`merging ${kind} answers is associative`, (t) => {
    fc.assert(
      fc.property(answers, answers, answers, (a, b, c) => {
        t.deepEqual(merge(merge(a, b), c), merge(a, b, c));
        t.deepEqual(merge(a, merge(b, c)), merge(a, b, c));
      }),
    );
  });
}

test('volumes of tenants are added up, and the biggest comes first', (t) => {
  const of = (...series: readonly (readonly [name: string, value: number])[]): VolumeAnswer => ({
    kind: 'volume',
    series: series.map(([name, value]) => ({
      labels: LabelSet.from([['app', name]]),
      points: [{ timestampMs: 1, value }],
    })),
    stats,
    warnings,
  });
  const merged = merge(of(['a', 5], ['b', 3]), of(['b', 4]));
  t.deepEqual(
    merged.kind === 'volume' &&
      merged.series.map(({ labels, points }) => [labels.get('app'), points[0]?.value]),
    [
      ['b', 7],
      ['a', 5],
    ],
  );
});

test('a field of several parts has the parsers and values of all of them', (t) => {
  const of = (field: Partial<DetectedField>): DetectedFieldsAnswer => ({
    kind: 'detected-fields',
    fields: [{ label: 'n', type: 'int', parsers: [], jsonPath: undefined, values: [], ...field }],
    limit: 10,
    warnings,
  });
  const merged = merge(of({ values: ['1', '2'] }), of({ values: ['2'], parsers: ['json'], jsonPath: ['n'] }));
  t.deepEqual(merged.kind === 'detected-fields' && merged.fields, [
    { label: 'n', type: 'int', parsers: ['json'], jsonPath: ['n'], values: ['1', '2'] },
  ]);
});

test('the patterns of the operator stay in front, whatever their lines', (t) => {
  const of = (level: string | undefined, pattern: string, lines: number): PatternsAnswer => ({
    kind: 'patterns',
    patterns: [{ pattern, level, samples: [[10, lines]] }],
    warnings,
  });
  const merged = merge(of('info', 'found', 90), of(undefined, 'own', 1), of('info', 'found', 2));
  t.deepEqual(merged.kind === 'patterns' && merged.patterns, [
    { pattern: 'own', level: undefined, samples: [[10, 1]] },
    { pattern: 'found', level: 'info', samples: [[10, 92]] },
  ]);
});
