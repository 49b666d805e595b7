import { Readable } from 'node:stream';

const chunkBytes = 64 * 1024;
/** How the body of a log answer begins (core/wire/answer/encode.ts). */
const streamsHead = Buffer.from('{"status":"success","data":{"resultType":"streams"');

/** Whether a body, before it is compressed, is the answer to a log query. */
export function isLogAnswer(body: Buffer): boolean {
  return body.subarray(0, streamsHead.length).equals(streamsHead);
}

/** A body in chunks: no more than a chunk waits for a client that reads slowly. */
export function chunkedBody(body: Buffer): Readable {
  return Readable.from(chunksOf(body), { objectMode: false, highWaterMark: chunkBytes });
}

/** The pieces of a body. */
export function* chunksOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
}
