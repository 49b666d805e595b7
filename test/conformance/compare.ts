import { compareAnswers as compare } from '../../core/comparison/answers.js';
import { differenceText } from '../../core/comparison/difference.js';
import type { Answered } from '../../core/comparison/answers.js';
import type { Case } from './cases.js';

/** Compares the proxy's answer with Loki's, as `ref-proxy compare` does; undefined when they agree. */
export function compareAnswers(request: Case, golden: Answered, answer: Answered): string | undefined {
  const difference = compare(request, golden, answer);
  return difference === undefined ? undefined : differenceText(difference);
}
