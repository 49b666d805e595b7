import type { Caller } from '../../base/caller.js';
import type { ApiRequest } from '../api/request.js';
import { encodeAnswer, finishedAnswer } from './encode.js';
import type { Answer } from './types.js';

/**
 * Adds HTTP headers to an answer by encoding it, once. Answers without bytes stay as they are: live and tenant answers, and answers that an
 * earlier stage will still merge or change (`isFinal` is false).
 */
export function withHeaders(
  exchange: { readonly caller: Caller; readonly request: ApiRequest; readonly isFinal: boolean },
  answer: Answer,
  headers: Readonly<Record<string, string>>,
): Answer {
  if (!exchange.isFinal || answer.kind === 'live' || answer.kind === 'tenant') return answer;
  const { caller, request } = exchange;
  const before = answer.kind === 'encoded' ? answer.headers : [];
  const encoded = encodeAnswer(answer, { categorizeLabels: caller.categorizeLabels, request });
  const all = new Map([...before, ...Object.entries(headers)]);
  return finishedAnswer(encoded.status, encoded.body, encoded.contentType, all);
}
