import type { EncodedAnswer } from '../../core/answer/types.js';

const noHeaders: ReadonlyMap<string, string> = new Map();

/** A finished text answer. */
export function text(status: number, body: string, contentType = 'text/plain; charset=utf-8'): EncodedAnswer {
  return {
    kind: 'encoded',
    status,
    contentType,
    headers: noHeaders,
    body: Buffer.from(body),
  };
}

/** A finished JSON answer. */
export function json(body: object): EncodedAnswer {
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    kind: 'encoded',
    status: 200,
    contentType: 'application/json; charset=utf-8',
    headers: noHeaders,
    body: bytes,
  };
}
