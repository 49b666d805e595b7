import { scalar, text } from '../base/keys/parts.js';
import { doAll } from '../base/pace/steps.js';
import { mergeDetectedFields } from '../wire/answer/merge/index.js';
import type { DetectedFieldsRequest } from '../wire/api/discovery-request.js';
import type { OperationDescriptor } from './descriptor.js';
import { timeRange } from './rules/keys.js';
import { scanLimits } from './rules/limits.js';
import { byQuery } from './rules/selection.js';
import { merged, mergeScans } from './rules/tenants.js';
import { detectedTtl, neverRecent } from './rules/ttl.js';

export const detectedFields: OperationDescriptor<DetectedFieldsRequest> = {
  selection: byQuery,
  cache: {
    key: { query: text, range: timeRange, limit: scalar, lineLimit: scalar },
    ttlMs: detectedTtl,
    isRecent: neverRecent,
    isChunked: false,
  },
  limits: scanLimits,
  tenants: merged(mergeScans, (answer) =>
    answer.kind === 'detected-fields' ? { ...answer, fields: answer.fields.slice(0, answer.limit) } : answer,
  ),
  empty: () => doAll(mergeDetectedFields([])),
};
