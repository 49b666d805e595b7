/**
 * Merges answers to parts of one question: tenants, time windows, hot and cold storage. Pure functions over plain data. Laws, checked by
 * property tests: merging is associative, the empty answer is neutral, and with `overlap: 'dedupe'` merging an answer with itself returns
 * it unchanged.
 */
import { doAll, type Steps } from '../../../base/pace/steps.js';
import type { Answer, AnswerKind } from '../types.js';
import {
  mergeDetectedFields,
  mergeDetectedFieldValues,
  mergeDetectedLabels,
  mergePatterns,
  mergeShards,
  mergeVolume,
} from './discovery.js';
import { mergeMatrix, mergeVector } from './metrics.js';
import { mergeIndexStats, mergeNames, mergeSeries } from './sets.js';
import { mergeStreams, type MergeOptions } from './streams.js';

export {
  mergeDetectedFields,
  mergeDetectedFieldValues,
  mergeDetectedLabels,
  mergePatterns,
  mergeShards,
  mergeVolume,
} from './discovery.js';
export { mergeMatrix, mergeVector } from './metrics.js';
export { mergeIndexStats, mergeNames, mergeSeries } from './sets.js';
export { mergeStreams, type MergeOptions } from './streams.js';
export { answerBytes, weighAnswer } from './size.js';

/**
 * Merges answers of one kind, in the order given. Answers of different kinds, encoded answers and an empty list are bugs of the caller and
 * throw an Error, not an ApiError.
 */
export function mergeAnswers(answers: readonly Answer[], options: MergeOptions): Answer {
  return doAll(mergeSteps(answers, options));
}

/** The same in steps, for large answers. */
export function* mergeSteps(answers: readonly Answer[], options: MergeOptions): Steps<Answer> {
  const [first] = answers;
  if (first === undefined) throw new Error('nothing to merge');
  switch (first.kind) {
    case 'streams':
      return yield* mergeStreams(ofKind(answers, first.kind), options);
    case 'names':
      return yield* mergeNames(ofKind(answers, first.kind));
    case 'series':
      return yield* mergeSeries(ofKind(answers, first.kind));
    case 'index-stats':
      return mergeIndexStats(ofKind(answers, first.kind));
    case 'matrix':
      return yield* mergeMatrix(ofKind(answers, first.kind));
    case 'vector':
      return yield* mergeVector(ofKind(answers, first.kind));
    case 'volume':
      return yield* mergeVolume(ofKind(answers, first.kind));
    case 'detected-fields':
      return yield* mergeDetectedFields(ofKind(answers, first.kind));
    case 'detected-field-values':
      return yield* mergeDetectedFieldValues(ofKind(answers, first.kind));
    case 'detected-labels':
      return yield* mergeDetectedLabels(ofKind(answers, first.kind));
    case 'patterns':
      return yield* mergePatterns(ofKind(answers, first.kind));
    case 'shards':
      return mergeShards(ofKind(answers, first.kind));
    case 'scalar':
    case 'formatted':
    case 'tenant':
      // These depend on the question only, so all parts gave the same answer.
      return first;
    case 'several':
      throw new Error('answers to gathered questions are taken apart by the stage that gathered them');
    case 'live':
      throw new Error('live answers cannot be merged');
    case 'encoded':
      throw new Error('encoded answers cannot be merged: derive exchanges with isFinal false');
  }
}

function ofKind<Kind extends AnswerKind>(
  answers: readonly Answer[],
  kind: Kind,
): readonly Extract<Answer, { kind: Kind }>[] {
  return answers.map((answer) => {
    if (!isKind(answer, kind)) throw new Error(`cannot merge a ${answer.kind} answer into a ${kind} answer`);
    return answer;
  });
}

function isKind<Kind extends AnswerKind>(
  answer: Answer,
  kind: Kind,
): answer is Extract<Answer, { kind: Kind }> {
  return answer.kind === kind;
}
