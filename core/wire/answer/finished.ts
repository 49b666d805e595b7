import type { EncodedAnswer } from './types.js';

const noHeaders: ReadonlyMap<string, string> = new Map();

/** An encoded plain-text answer. */
export function textAnswer(
  status: number,
  body: string,
  contentType = 'text/plain; charset=utf-8',
): EncodedAnswer {
  return finishedAnswer(status, Buffer.from(body), contentType);
}

/** An encoded JSON answer with status 200. */
export function jsonAnswer(
  body: object | string,
  contentType = 'application/json; charset=utf-8',
): EncodedAnswer {
  return finishedAnswer(200, Buffer.from(JSON.stringify(body)), contentType);
}

/** An encoded answer from bytes; with an empty content type, the header is not sent. */
export function finishedAnswer(
  status: number,
  body: Buffer,
  contentType: string,
  headers: ReadonlyMap<string, string> = noHeaders,
): EncodedAnswer {
  return { kind: 'encoded', status, contentType, headers, body };
}
