import { Readable } from 'node:stream';

const chunkBytes = 64 * 1024;
/** The first bytes of a log answer (core/wire/answer/encode.ts). */
const streamsHead = Buffer.from('{"status":"success","data":{"resultType":"streams"');

/** Whether an uncompressed body is the answer to a log query. */
export function isLogAnswer(body: Buffer): boolean {
  return body.subarray(0, streamsHead.length).equals(streamsHead);
}

/** A body as a stream, so that at most one chunk is buffered for a slow reader. */
export function chunkedBody(body: Buffer): Readable {
  return Readable.from(chunksOf(body), { objectMode: false, highWaterMark: chunkBytes });
}

export function* chunksOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
}
