import { inOrder, scalar, text } from '../base/key-parts.js';
import type {
  IndexShardsRequest,
  IndexStatsRequest,
  VolumeRangeRequest,
  VolumeRequest,
} from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { byQuery, bySelector, indexCache, rangedLimits, timeRange } from './rules/common.js';
import { mergeTenants, mergeAll, oneTenantOnly, biggestVolumes, unlimited } from './rules/tenants.js';
import { mergeShards, mergeVolume } from '../wire/answer/merge/index.js';
import { doAll } from '../base/pace/steps.js';

export const indexStats: OperationDescriptor<IndexStatsRequest> = {
  selection: bySelector,
  cache: { key: { query: text, range: timeRange }, ...indexCache },
  limits: rangedLimits,
  tenants: mergeTenants(mergeAll),
  empty: () => ({ kind: 'index-stats', streams: 0, chunks: 0, bytes: 0, entries: 0, warnings: [] }),
};

export const indexShards: OperationDescriptor<IndexShardsRequest> = {
  selection: byQuery,
  cache: { key: { query: text, range: timeRange, targetBytesPerShard: scalar }, ...indexCache },
  limits: rangedLimits,
  tenants: oneTenantOnly,
  empty: () => mergeShards([]),
};

/** Each tenant returns everything: the largest volumes are only known after adding up. */
const mergedVolumes = mergeTenants<VolumeRequest | VolumeRangeRequest>(
  (request, tenants) => mergeAll({ ...request, limit: unlimited }, tenants),
  biggestVolumes,
);

const volumeKey = { limit: scalar, targetLabels: inOrder, aggregateBy: scalar };
const volumes = {
  selection: bySelector,
  limits: rangedLimits,
  tenants: mergedVolumes,
  empty: () => doAll(mergeVolume([])),
};

export const volume: OperationDescriptor<VolumeRequest> = {
  ...volumes,
  cache: { key: { query: text, range: timeRange, ...volumeKey }, ...indexCache },
};

export const volumeRange: OperationDescriptor<VolumeRangeRequest> = {
  ...volumes,
  cache: { key: { query: text, range: timeRange, stepNs: scalar, ...volumeKey }, ...indexCache },
};
