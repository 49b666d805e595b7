import { scalar, text } from '../base/keys/parts.js';
import { doAll } from '../base/pace/steps.js';
import { mergeMatrix, mergeStreams } from '../wire/answer/merge/index.js';
import type { QueryRangeRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { timeRange } from './rules/keys.js';
import {
  checkEntries,
  checkIntervals,
  checkRange,
  checkResolution,
  readsLogs,
  shortened,
} from './rules/limits.js';
import { byQuery } from './rules/selection.js';
import { merged, mergeLogs, metricStrategy } from './rules/tenants.js';
import { isRecentQuery, queryTtl } from './rules/ttl.js';

export const queryRange: OperationDescriptor<QueryRangeRequest> = {
  selection: byQuery,
  cache: {
    key: {
      query: text,
      range: timeRange,
      stepNs: scalar,
      limit: scalar,
      direction: scalar,
      intervalNs: scalar,
      isPart: scalar,
      part: scalar,
    },
    ttlMs: (request, answer, rules) => (request.part !== undefined ? 0 : queryTtl(request, answer, rules)),
    isRecent: isRecentQuery,
    isChunked: true,
  },
  limits: {
    checks: [checkResolution, checkRange, checkEntries, checkIntervals],
    within: (request, oldestNs) =>
      request.range.startNs >= oldestNs || !readsLogs(request) ? request : shortened(request, oldestNs),
    isTimed: true,
    bytesRead: (request) => request,
  },
  tenants: merged(
    (request, tenants) => {
      const { ast } = request.query;
      return ast.kind === 'log' ? mergeLogs(request, ast, tenants) : metricStrategy(request, ast);
    },
    (answer) => answer,
    ({ direction, limit }) => ({ direction, limit }),
  ),
  empty: ({ query, direction }) =>
    query.ast.kind === 'log' ? doAll(mergeStreams([], { direction })) : doAll(mergeMatrix([])),
};
