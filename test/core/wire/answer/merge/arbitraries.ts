import fc from 'fast-check';
import type { Direction } from '../../../../../core/wire/api/request.js';
import { byRank } from '../../../../../core/wire/answer/rank.js';
import type { Answer, Entry, NamesAnswer, StreamsAnswer } from '../../../../../core/wire/answer/types.js';
import {
  mergeStreams as streamSteps,
  type MergeOptions,
} from '../../../../../core/wire/answer/merge/index.js';
import { LabelSet } from '../../../../../core/base/label-set.js';
import { doAll } from '../../../../../core/base/pace/steps.js';

export const mergeStreams = (answers: readonly StreamsAnswer[], options: MergeOptions): StreamsAnswer =>
  doAll(streamSteps(answers, options));

const noStats = {
  linesProcessed: 0,
  bytesProcessed: 0,
  postFilterLines: 0,
  structuredMetadataBytes: 0,
  execTimeMs: 0,
  splits: 1,
};

// Few different values, so that equal labels, timestamps and entries are common.
const labelSets = fc
  .dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), { maxKeys: 2 })
  .map((labels) => LabelSet.from(Object.entries(labels)));

export const directions = fc.constantFrom<Direction>('forward', 'backward');
export const limits = fc.option(fc.nat(12), { nil: undefined });

const entries: fc.Arbitrary<Entry> = fc.record({
  timestampNs: fc.bigInt(0n, 4n),
  line: fc.constantFrom('x', 'y', ''),
  structuredMetadata: labelSets,
  parsed: fc.constant(LabelSet.empty),
});

/** Log responses as the chain returns them: each label set once, and entries in the given direction. */
export function streamsAnswers(direction: Direction): fc.Arbitrary<StreamsAnswer> {
  const streams = fc.array(
    fc.record({ labels: labelSets, entries: fc.array(entries, { minLength: 1, maxLength: 6 }) }),
    {
      maxLength: 4,
    },
  );
  return fc
    .record({ streams, warnings: fc.array(fc.constantFrom('w1', 'w2'), { maxLength: 2 }) })
    .map((parts) =>
      mergeStreams([{ kind: 'streams', ...parts, stats: { ...noStats, entriesReturned: 0 } }], { direction }),
    );
}

export const namesAnswers: fc.Arbitrary<Answer> = fc
  .uniqueArray(fc.constantFrom('app', 'env', 'pod', '__proto__'))
  .map((values) => ({ kind: 'names', values: values.sort(), warnings: [] }));

export const rankedAnswers = fc
  .uniqueArray(
    fc.record({
      value: fc.constantFrom('app', 'env', 'pod', 'zone', '__proto__'),
      seen: fc.integer({ min: 1, max: 3 }),
      lastMs: fc.nat(2),
    }),
    { selector: ({ value }) => value },
  )
  .map((entries): NamesAnswer => {
    const ranked = entries.sort(byRank);
    return {
      kind: 'names',
      values: ranked.map(({ value }) => value),
      heat: ranked.map(({ seen, lastMs }) => ({ seen, lastMs })),
      warnings: [],
    };
  });

export const seriesAnswers: fc.Arbitrary<Answer> = fc
  .uniqueArray(labelSets, { selector: (labels) => labels.key })
  .map((series) => ({ kind: 'series', series, warnings: [] }));

export const indexStatsAnswers: fc.Arbitrary<Answer> = fc.record({
  kind: fc.constant('index-stats' as const),
  streams: fc.nat(100),
  chunks: fc.nat(100),
  bytes: fc.nat(100),
  entries: fc.nat(100),
  warnings: fc.constant([]),
});

const points = fc
  .uniqueArray(fc.nat(5), { maxLength: 4 })
  .chain((times) =>
    fc.tuple(
      ...times
        .sort((a, b) => a - b)
        .map((time) => fc.record({ timestampMs: fc.constant(time), value: fc.nat(9) })),
    ),
  );

export const matrixAnswers: fc.Arbitrary<Answer> = fc
  .uniqueArray(fc.record({ labels: labelSets, points }), {
    selector: (series) => series.labels.key,
    maxLength: 3,
  })
  .map((series) => ({ kind: 'matrix', series, warnings: [], stats: { ...noStats, entriesReturned: 0 } }));

export const vectorAnswers: fc.Arbitrary<Answer> = fc
  .uniqueArray(
    fc.record({ labels: labelSets, point: fc.record({ timestampMs: fc.nat(5), value: fc.nat(9) }) }),
    {
      selector: (sample) => sample.labels.key,
      maxLength: 3,
    },
  )
  .map((samples) => ({ kind: 'vector', samples, warnings: [], stats: { ...noStats, entriesReturned: 0 } }));
