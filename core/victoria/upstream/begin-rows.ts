import { Begun } from '../../base/pace/begun.js';
import type { BackendRow, RowsRequest, Upstream } from './types.js';

/** Rows that are asked for at once, before it is certain that they will be read; the call ends with the reading. */
export function beginRows(upstream: Upstream, request: RowsRequest): Begun<readonly BackendRow[]> {
  return new Begun((signal) => (upstream.until?.(signal) ?? upstream).rows(request));
}
