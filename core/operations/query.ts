import { scalar, text } from '../base/keys/parts.js';
import { doAll } from '../base/pace/steps.js';
import { mergeVector } from '../wire/answer/merge/index.js';
import type { QueryRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { checkIntervals, readsLogs } from './rules/limits.js';
import { byQuery } from './rules/selection.js';
import { merged, metricStrategy, once } from './rules/tenants.js';
import { isRecentInstant, queryTtl } from './rules/ttl.js';

export const query: OperationDescriptor<QueryRequest> = {
  selection: byQuery,
  cache: {
    key: { query: text, timeNs: scalar, limit: scalar, direction: scalar, isPart: scalar },
    ttlMs: queryTtl,
    isRecent: isRecentInstant,
    isChunked: true,
  },
  limits: {
    checks: [checkIntervals],
    within: (request, oldestNs) => (request.timeNs >= oldestNs || !readsLogs(request) ? request : undefined),
    isTimed: true,
    bytesRead: ({ query: asked, timeNs }) => ({ query: asked, range: { startNs: timeNs, endNs: timeNs } }),
  },
  // A log query is refused as an instant query, for every tenant alike.
  tenants: merged((request) => {
    const { ast } = request.query;
    return ast.kind === 'log' ? once : metricStrategy(request, ast);
  }),
  empty: () => doAll(mergeVector([])),
};
