import test from 'ava';
import fc from 'fast-check';
import type { Answer, NamesAnswer } from '../../../../../core/wire/answer/types.js';
import { mergeAnswers, type MergeOptions } from '../../../../../core/wire/answer/merge/index.js';
import {
  mergeStreams,
  directions,
  indexStatsAnswers,
  limits,
  matrixAnswers,
  namesAnswers,
  rankedAnswers,
  seriesAnswers,
  streamsAnswers,
  vectorAnswers,
} from './arbitraries.js';

type Merge = (...answers: Answer[]) => Answer;
const backward: MergeOptions = { direction: 'backward' };
const mergeWith =
  (options: MergeOptions): Merge =>
  (...answers) =>
    mergeAnswers(answers, options);

const overlaps = fc.constantFrom<'keep' | 'dedupe'>('keep', 'dedupe');
const optionsOf = fc
  .record({ direction: directions, limit: limits, overlap: overlaps })
  .map(({ limit, ...rest }): MergeOptions => (limit === undefined ? rest : { ...rest, limit }));

test('merging log answers is associative, with and without a limit, in both directions', (t) => {
  const cases = optionsOf.chain((options) => {
    const answer = streamsAnswers(options.direction);
    return fc.tuple(fc.constant(options), answer, answer, answer);
  });
  fc.assert(
    fc.property(cases, ([options, a, b, c]) => {
      const merge = mergeWith(options);
      const atOnce = merge(a, b, c);
      t.deepEqual(merge(merge(a, b), c), atOnce);
      t.deepEqual(merge(a, merge(b, c)), atOnce);
    }),
  );
});

const otherKinds = {
  names: namesAnswers,
  'ranked names': fc.oneof(rankedAnswers, namesAnswers),
  series: seriesAnswers,
  'index-stats': indexStatsAnswers,
  matrix: matrixAnswers,
  vector: vectorAnswers,
};
for (const [kind, answers] of Object.entries(otherKinds)) {
  test(`merging ${kind} answers is associative`, (t) => {
    const merge = mergeWith(backward);
    fc.assert(
      fc.property(answers, answers, answers, (a, b, c) => {
        t.deepEqual(merge(merge(a, b), c), merge(a, b, c));
        t.deepEqual(merge(a, merge(b, c)), merge(a, b, c));
      }),
    );
  });
}

test('the first of merged names that are ranked are among the first of each part', (t) => {
  const merge = mergeWith(backward);
  const firstOf = (answer: Answer, count: number): readonly string[] =>
    answer.kind === 'names' ? answer.values.slice(0, count) : [];
  const cut = (answer: NamesAnswer, count: number): Answer => ({
    ...answer,
    values: answer.values.slice(0, count),
    heat: answer.heat?.slice(0, count) ?? [],
  });
  fc.assert(
    fc.property(rankedAnswers, rankedAnswers, fc.nat(4), (a, b, count) => {
      t.deepEqual(firstOf(merge(cut(a, count), cut(b, count)), count), firstOf(merge(a, b), count));
      t.deepEqual(merge(a, a), a);
    }),
  );
});

test('merging a log answer with itself changes nothing when overlap is asked to be ignored', (t) => {
  const cases = directions.chain((direction) => fc.tuple(fc.constant(direction), streamsAnswers(direction)));
  fc.assert(
    fc.property(cases, ([direction, answer]) => {
      const merged = mergeStreams([answer, answer], { direction, overlap: 'dedupe' });
      t.deepEqual(merged.streams, mergeStreams([answer], { direction }).streams);
    }),
  );
});

test('merging keeps every entry of every part when no limit is given', (t) => {
  const cases = directions.chain((direction) =>
    fc.tuple(fc.constant(direction), fc.array(streamsAnswers(direction), { maxLength: 4 })),
  );
  fc.assert(
    fc.property(cases, ([direction, answers]) => {
      const returned = (parts: typeof answers): number =>
        parts.flatMap((answer) => answer.streams).reduce((sum, stream) => sum + stream.entries.length, 0);
      t.is(returned([mergeStreams(answers, { direction })]), returned(answers));
    }),
  );
});

test('a limit keeps the entries that come first in the direction, over all streams', (t) => {
  const cases = fc
    .tuple(directions, fc.nat(8))
    .chain(([direction, limit]) =>
      fc.tuple(
        fc.constant(direction),
        fc.constant(limit),
        fc.array(streamsAnswers(direction), { maxLength: 3 }),
      ),
    );
  fc.assert(
    fc.property(cases, ([direction, limit, answers]) => {
      const times = (parts: typeof answers): bigint[] =>
        parts
          .flatMap((answer) =>
            answer.streams.flatMap((stream) => stream.entries.map((entry) => entry.timestampNs)),
          )
          .sort((a, b) => (direction === 'forward' ? Number(a - b) : Number(b - a)));
      t.deepEqual(times([mergeStreams(answers, { direction, limit })]), times(answers).slice(0, limit));
    }),
  );
});
