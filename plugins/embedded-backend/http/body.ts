import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';

import { decodeSnappy } from '../ingest/snappy.js';
import { badRequest, ClientGoneError, HttpError } from './errors.js';

/** Maximum size of a body, compressed or not; larger ones get 413. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

const gunzipAsync = promisify(gunzip);
const inflateAsync = promisify(inflate);

/** Reads the whole body as sent. */
export async function readRaw(req: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of req as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > MAX_BODY_BYTES)
        throw new HttpError(413, `too big request body; it exceeds ${MAX_BODY_BYTES} bytes`);
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new ClientGoneError();
  }
  return Buffer.concat(pieces);
}

/** Decodes the Content-Encoding of a body. */
export async function unpackBody(raw: Buffer, encoding: string): Promise<Buffer> {
  try {
    switch (encoding) {
      case '':
      case 'identity':
        return raw;
      case 'gzip':
        return await gunzipAsync(raw, { maxOutputLength: MAX_BODY_BYTES });
      case 'deflate':
        return await inflateAsync(raw, { maxOutputLength: MAX_BODY_BYTES });
      case 'snappy':
        return decodeSnappy(raw);
      default:
        throw badRequest(`unsupported Content-Encoding: ${JSON.stringify(encoding)}`);
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw badRequest(
      `cannot read ${encoding} request body: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
