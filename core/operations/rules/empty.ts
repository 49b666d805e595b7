import { doAll } from '../../base/pace/steps.js';
import { mergeStreams } from '../../wire/answer/merge/index.js';
import type { Answer } from '../../wire/answer/types.js';

export function noStreams(): Answer {
  return doAll(mergeStreams([], { direction: 'backward' }));
}
