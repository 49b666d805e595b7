import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Context } from 'koa';

const compress = promisify(gzip);

export interface CompressionSettings {
  readonly responseCompression: 'gzip' | 'auto' | 'none';
  readonly responseCompressionMinBytes: number;
  /** The older switch: false means none where the newer one stands at its default. */
  readonly responseGzip: boolean;
}

/**
 * The body to send: gzipped where the client takes it and it is worth it. Runs once, at the edge; a body that a stage has
 * encoded already stays as it is.
 */
export async function compressBody(
  context: Context,
  body: Buffer,
  settings: CompressionSettings,
): Promise<Buffer> {
  const { responseCompression, responseGzip } = settings;
  if (responseCompression === 'none' || (responseCompression === 'gzip' && !responseGzip)) return body;
  context.vary('Accept-Encoding');
  const isEncoded = context.res.hasHeader('Content-Encoding');
  if (isEncoded || body.length === 0 || body.length < settings.responseCompressionMinBytes) return body;
  if (context.acceptsEncodings('gzip', 'identity') !== 'gzip') return body;
  context.set('Content-Encoding', 'gzip');
  // Log text shrinks to about a tenth at the lowest level already; the higher ones only cost time.
  return compress(body, { level: constants.Z_BEST_SPEED });
}
