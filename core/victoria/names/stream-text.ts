import type { Label } from '../../base/label-set.js';
import { readStreamText } from '../logsql/stream-text.js';

/** A `_stream` text that is not `{name="value",...}`: the backend violated its contract. */
export class StreamTextError extends Error {
  override readonly name = 'StreamTextError';
}

/**
 * Parses the `_stream` field of a row of the backend.
 * @throws StreamTextError
 */
export function parseStreamText(text: string): readonly Label[] {
  const { labels, errorAt } = readStreamText(text);
  if (errorAt === undefined) return labels;
  throw new StreamTextError(`malformed _stream at offset ${errorAt}: ${text.slice(0, 200)}`);
}
