import { scalar, text } from '../base/keys/parts.js';
import { mergeShards } from '../wire/answer/merge/index.js';
import type { IndexShardsRequest } from '../wire/api/discovery-request.js';
import type { OperationDescriptor } from './descriptor.js';
import { timeRange } from './rules/keys.js';
import { rangedLimits } from './rules/limits.js';
import { byQuery } from './rules/selection.js';
import { oneTenantOnly } from './rules/tenants.js';
import { indexTtl, neverRecent } from './rules/ttl.js';

export const indexShards: OperationDescriptor<IndexShardsRequest> = {
  selection: byQuery,
  cache: {
    key: { query: text, range: timeRange, targetBytesPerShard: scalar },
    ttlMs: indexTtl,
    isRecent: neverRecent,
    isChunked: false,
  },
  limits: rangedLimits,
  tenants: oneTenantOnly,
  empty: () => mergeShards([]),
};
