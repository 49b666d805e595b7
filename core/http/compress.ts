import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Context } from 'koa';
import type { EncodedAnswer } from '../wire/answer/types.js';

const inThreadPool = promisify(gzip);

export interface CompressionSettings {
  readonly responseCompression: 'gzip' | 'auto' | 'none';
  readonly responseCompressionMinBytes: number;
  /** The older switch: false disables compression where the newer option has its default. */
  readonly responseGzip: boolean;
}

/**
 * The body to send, gzipped when the client accepts it and it is large enough. Runs once, at the HTTP edge; a body that a stage has already
 * encoded stays as it is, and one with a kept gzip form is not compressed again.
 */
export async function compressBody(
  context: Context,
  { body, gzip: kept }: Pick<EncodedAnswer, 'body' | 'gzip'>,
  settings: CompressionSettings,
): Promise<Buffer> {
  const { responseCompression, responseGzip } = settings;
  if (responseCompression === 'none' || (responseCompression === 'gzip' && !responseGzip)) return body;
  context.vary('Accept-Encoding');
  const isEncoded = context.res.hasHeader('Content-Encoding');
  if (isEncoded || body.length === 0 || body.length < settings.responseCompressionMinBytes) return body;
  if (context.acceptsEncodings('gzip', 'identity') !== 'gzip') return body;
  context.set('Content-Encoding', 'gzip');
  return kept === undefined ? compress(body) : kept.of(body, compress);
}

function compress(body: Buffer): Promise<Buffer> {
  // The lowest level already shrinks log text to about a tenth; higher levels only cost time.
  return inThreadPool(body, { level: constants.Z_BEST_SPEED });
}
