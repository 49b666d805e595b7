import type { Caller } from '../../base/caller.js';
import type { ApiRequest } from '../api/request.js';
import { encodeAnswer } from './encode.js';
import type { Answer } from './types.js';

/**
 * An answer with HTTP headers, for stages: its bytes are made here, once. As it was where it has no bytes of its own: live and tenant
 * answers, and answers that a stage above will merge or change (`isFinal` is false).
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
  return {
    kind: 'encoded',
    status: encoded.status,
    contentType: encoded.contentType,
    body: encoded.body,
    headers: new Map([...before, ...Object.entries(headers)]),
  };
}
