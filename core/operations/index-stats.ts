import { text } from '../base/keys/parts.js';
import type { IndexStatsRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { timeRange } from './rules/keys.js';
import { rangedLimits } from './rules/limits.js';
import { bySelector } from './rules/selection.js';
import { merged, mergeAll } from './rules/tenants.js';
import { indexTtl, neverRecent } from './rules/ttl.js';

export const indexStats: OperationDescriptor<IndexStatsRequest> = {
  selection: bySelector,
  cache: {
    key: { query: text, range: timeRange },
    ttlMs: indexTtl,
    isRecent: neverRecent,
    isChunked: false,
  },
  limits: rangedLimits,
  tenants: merged(mergeAll),
  empty: () => ({ kind: 'index-stats', streams: 0, chunks: 0, bytes: 0, entries: 0, warnings: [] }),
};
