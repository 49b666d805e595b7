import { scalar, text } from '../base/key-parts.js';
import { doAll } from '../base/pace/steps.js';
import { mergeMatrix, mergeStreams, mergeVector } from '../wire/answer/merge/index.js';
import type {
  FormatQueryRequest,
  QueryRangeRequest,
  QueryRequest,
  TailRequest,
} from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import {
  byQuery,
  byQueryText,
  checkEntries,
  checkIntervals,
  checkRange,
  checkResolution,
  isRecentInstant,
  isRecentQuery,
  noLimits,
  noStreams,
  queryTtl,
  readsLogs,
  shortened,
  timeRange,
} from './rules/common.js';
import { mergeTenants, mergeLogs, metricStrategy, once, oneTenantOnly } from './rules/tenants.js';

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
  tenants: mergeTenants(
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
  // A log query is rejected as an instant query, for every tenant alike.
  tenants: mergeTenants((request) => {
    const { ast } = request.query;
    return ast.kind === 'log' ? once : metricStrategy(request, ast);
  }),
  empty: () => doAll(mergeVector([])),
};

export const tail: OperationDescriptor<TailRequest> = {
  selection: byQuery,
  // Every tail is different.
  cache: 'never',
  // Its maximum duration is an option of its endpoint.
  limits: { checks: [], within: shortened, isTimed: false, bytesRead: undefined },
  tenants: { kind: 'refused', error: 'severalTenantsTailed' },
  empty: noStreams,
};

export const formatQuery: OperationDescriptor<FormatQueryRequest> = {
  selection: byQueryText,
  // Formatting costs less than a cache lookup.
  cache: 'never',
  limits: noLimits,
  tenants: oneTenantOnly,
  ignoresTenant: true,
  empty: noStreams,
};
