import { Begun } from '../../base/pace/begun.js';
import type { BackendRow, RowsRequest, Upstream } from './types.js';

/** Starts reading rows immediately, before it is certain that they will be used; the call ends when reading ends. */
export function beginRows(upstream: Upstream, request: RowsRequest): Begun<readonly BackendRow[]> {
  return new Begun((signal) => (upstream.until?.(signal) ?? upstream).rows(request));
}
