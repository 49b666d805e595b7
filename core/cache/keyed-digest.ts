import { createHash, createHmac } from 'node:crypto';
import { Pacer } from '../base/pace/pacer.js';
import { atPace, type Steps } from '../base/pace/steps.js';

/** Digested in one step: about a millisecond. */
const stepBytes = 512 * 1024;

/**
 * What binds a value that leaves the process to its key: over the key (its length in 4 bytes, and its UTF-8), the header and the body.
 * HMAC-SHA-256 where there is a secret, else SHA-256. Done in short steps.
 */
export function keyedDigest(
  secret: string | undefined,
  key: string,
  header: Buffer,
  body: Buffer,
): Promise<Buffer> {
  return atPace(digestSteps(secret, key, header, body), new Pacer());
}

function* digestSteps(secret: string | undefined, key: string, header: Buffer, body: Buffer): Steps<Buffer> {
  const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
  const keyBytes = Buffer.from(key);
  const keyLength = Buffer.alloc(4);
  keyLength.writeUInt32BE(keyBytes.byteLength);
  hash.update(keyLength).update(keyBytes).update(header);
  for (let at = 0; at < body.byteLength; at += stepBytes) {
    hash.update(body.subarray(at, at + stepBytes));
    yield;
  }
  return hash.digest();
}
