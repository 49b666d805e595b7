import { inOrder, scalar, text } from '../base/keys/parts.js';
import { doAll } from '../base/pace/steps.js';
import { mergePatterns } from '../wire/answer/merge/index.js';
import type { PatternsRequest } from '../wire/api/discovery-request.js';
import type { OperationDescriptor } from './descriptor.js';
import { timeRange } from './rules/keys.js';
import { shortened } from './rules/limits.js';
import { bySelector } from './rules/selection.js';
import { merged, mergeAll } from './rules/tenants.js';
import { isNotPast, patternsTtl } from './rules/ttl.js';

export const patterns: OperationDescriptor<PatternsRequest> = {
  selection: bySelector,
  cache: {
    key: {
      query: text,
      range: timeRange,
      stepNs: scalar,
      limit: scalar,
      search: { maxRows: scalar, secondPassMaxRows: scalar, secondPassMaxWindows: scalar, custom: inOrder },
    },
    ttlMs: patternsTtl,
    isRecent: isNotPast,
    isChunked: false,
  },
  // As in Loki, the range may have any length.
  limits: { checks: [], within: shortened, isTimed: true, bytesRead: undefined },
  tenants: merged<PatternsRequest>(mergeAll, (answer, { limit }) =>
    answer.kind === 'patterns' ? { ...answer, patterns: answer.patterns.slice(0, limit) } : answer,
  ),
  empty: () => doAll(mergePatterns([])),
};
