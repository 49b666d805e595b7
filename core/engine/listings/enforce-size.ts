import { apiError } from '../../base/errors/table.js';

/** Throws `labelValuesTooLarge` when values take more bytes than allowed; 0 allows any (`-label-values-max-response-bytes`). */
export function enforceSize(values: Iterable<string>, maxBytes: number): void {
  if (maxBytes === 0) return;
  let size = 0;
  for (const value of values) size += Buffer.byteLength(value);
  if (size > maxBytes) throw apiError('labelValuesTooLarge', { read: maxBytes + 1, limit: maxBytes });
}
