import { text } from '../base/keys/parts.js';
import { doAll } from '../base/pace/steps.js';
import { mergeDetectedLabels } from '../wire/answer/merge/index.js';
import type { DetectedLabelsRequest } from '../wire/api/discovery-request.js';
import type { OperationDescriptor } from './descriptor.js';
import { timeRange } from './rules/keys.js';
import { rangedLimits } from './rules/limits.js';
import { byOptionalSelector } from './rules/selection.js';
import { merged, mergeAll } from './rules/tenants.js';
import { detectedTtl, neverRecent } from './rules/ttl.js';

export const detectedLabels: OperationDescriptor<DetectedLabelsRequest> = {
  selection: byOptionalSelector,
  cache: {
    key: { query: text, range: timeRange },
    ttlMs: detectedTtl,
    isRecent: neverRecent,
    isChunked: false,
  },
  limits: rangedLimits,
  tenants: merged(mergeAll),
  empty: () => doAll(mergeDetectedLabels([])),
};
