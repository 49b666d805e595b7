import { inOrder, scalar, text } from '../base/keys/parts.js';
import { doAll } from '../base/pace/steps.js';
import { mergeVolume } from '../wire/answer/merge/index.js';
import type { VolumeRangeRequest } from '../wire/api/discovery-request.js';
import type { OperationDescriptor } from './descriptor.js';
import { timeRange } from './rules/keys.js';
import { rangedLimits } from './rules/limits.js';
import { bySelector } from './rules/selection.js';
import { biggestVolumes, merged, mergeAll, unlimited } from './rules/tenants.js';
import { indexTtl, neverRecent } from './rules/ttl.js';

export const volumeRange: OperationDescriptor<VolumeRangeRequest> = {
  selection: bySelector,
  cache: {
    key: {
      query: text,
      range: timeRange,
      stepNs: scalar,
      limit: scalar,
      targetLabels: inOrder,
      aggregateBy: scalar,
    },
    ttlMs: indexTtl,
    isRecent: neverRecent,
    isChunked: false,
  },
  limits: rangedLimits,
  // Each tenant returns everything: the largest volumes are only known once all are added up.
  tenants: merged<VolumeRangeRequest>(
    (request, tenants) => mergeAll({ ...request, limit: unlimited }, tenants),
    biggestVolumes,
  ),
  empty: () => doAll(mergeVolume([])),
};
