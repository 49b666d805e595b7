import type { Dataset } from '../data/dataset.js';
import { caseOf, type Question } from '../question.js';
import type { Different, Verdict } from '../verdict.js';
import { shortenings, type Shortening } from './question.js';

export interface Shrunk {
  readonly question: Question;
  readonly difference: Different;
}

const mostTries = 150;

/** Shrinks a question while the responses still differ in the same respect: their status, or their content. */
export async function shrink(
  start: Shrunk,
  data: Dataset,
  judged: (question: Question) => Promise<Verdict>,
): Promise<Shrunk> {
  let best = start;
  const tried = new Set([keyOf(start.question)]);
  for (const shorten of shortenings) {
    for (let smaller = await shortened(shorten); smaller !== undefined; smaller = await shortened(shorten))
      best = smaller;
  }
  return best;

  async function shortened(shorten: Shortening): Promise<Shrunk | undefined> {
    for (const question of shorten(best.question, data, best.difference)) {
      const key = keyOf(question);
      if (tried.has(key)) continue;
      if (tried.size > mostTries) return undefined;
      tried.add(key);
      const verdict = await judged(question);
      if (verdict.kind === 'different' && respect(verdict) === respect(start.difference))
        return { question, difference: verdict };
    }
    return undefined;
  }
}

function keyOf(question: Question): string {
  const { path, params, headers, method } = caseOf(question);
  return JSON.stringify([path, params, headers, method]);
}

function respect({ wanted, got }: Different): string {
  return wanted.status === 200 && got.status === 200 ? 'data' : `${wanted.status} ${got.status}`;
}
