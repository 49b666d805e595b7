import { hasData, type Answered } from '../../core/comparison/answers.js';
import { compareAnswers } from '../conformance/compare.js';
import { caseOf, type Question } from './question.js';

/** Somebody who answers: Loki, or a proxy. */
export type Ask = (question: Question) => Promise<Answered>;

/** Loki answers some requests that are broken on purpose neither with data nor with an error: it asks itself forever. */
export class NoAnswerError extends Error {}

export interface Different {
  readonly kind: 'different';
  /** What the rules of the conformance tests say. */
  readonly text: string;
  readonly wanted: Answered;
  readonly got: Answered;
}

export type Verdict =
  | { readonly kind: 'equal'; readonly hasData: boolean }
  /** Loki answers differently by itself: when it is asked again, or where it stores the same logs in another way; or not at all. */
  | { readonly kind: 'unsteady' }
  | Different;

export interface Sides {
  readonly loki: Ask;
  readonly proxy: Ask;
  /** Lokis that have the same logs and cut their chunks, or divide their queries, in another way. */
  readonly otherLokis: readonly Ask[];
}

/**
 * Asks both. Where the answers differ Loki is asked again, and what it does not say each time is no difference. Nor is
 * what another Loki answers as the proxy does.
 */
export async function judge(
  question: Question,
  { loki, proxy, otherLokis }: Sides,
  repeats = 2,
): Promise<Verdict> {
  const [wanted, got] = await Promise.all([loki(question).catch(noAnswer), proxy(question)]);
  if (wanted === undefined) return { kind: 'unsteady' };
  const request = caseOf(question);
  const text = compareAnswers(request, wanted, got);
  if (text === undefined) return { kind: 'equal', hasData: hasData(wanted) };
  for (let again = 0; again < repeats; again += 1) {
    const said = await loki(question).catch(noAnswer);
    if (said === undefined || compareAnswers(request, wanted, said) !== undefined)
      return { kind: 'unsteady' };
  }
  for (const other of otherLokis) {
    // One that cannot answer, because its chunks are too many for it, says nothing.
    const said = await other(question).catch(() => undefined);
    if (said !== undefined && compareAnswers(request, said, got) === undefined) return { kind: 'unsteady' };
  }
  return { kind: 'different', text, wanted, got };
}

function noAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswerError)) throw error;
}
