import { hasData, type Answered } from '../../core/comparison/answers.js';
import { compareAnswers } from '../conformance/compare.js';
import { caseOf, type Question } from './question.js';

/** A side of the comparison that answers a question: Loki, or a proxy. */
export type Ask = (question: Question) => Promise<Answered>;

/** Loki answers some intentionally invalid requests with neither data nor an error: it queries itself forever. */
export class NoAnswerError extends Error {}

export interface Different {
  readonly kind: 'different';
  /** The difference according to the rules of the conformance tests. */
  readonly text: string;
  readonly wanted: Answered;
  readonly got: Answered;
}

export type Verdict =
  | { readonly kind: 'equal'; readonly hasData: boolean }
  /** Loki itself answers inconsistently: for repeated requests, or with other storage settings for the same logs; or not at all. */
  | { readonly kind: 'unsteady' }
  | Different;

export interface Sides {
  readonly loki: Ask;
  readonly proxy: Ask;
  /** Lokis with the same logs but other chunk boundaries or query splitting. */
  readonly otherLokis: readonly Ask[];
}

/**
 * Sends the request to both sides and compares the responses. If they differ, Loki gets the request again. The verdict is `unsteady` if Loki's
 * own responses differ, or if the proxy's response equals that of another Loki.
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
    // Ignores a Loki that cannot answer because it has too many chunks.
    const said = await other(question).catch(() => undefined);
    if (said !== undefined && compareAnswers(request, said, got) === undefined) return { kind: 'unsteady' };
  }
  return { kind: 'different', text, wanted, got };
}

function noAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswerError)) throw error;
}
