import { inOrder, scalar, text } from '../base/key-parts.js';
import { doAll } from '../base/pace/steps.js';
import {
  mergeDetectedFields,
  mergeDetectedFieldValues,
  mergeDetectedLabels,
  mergePatterns,
} from '../wire/answer/merge/index.js';
import type {
  DetectedFieldsRequest,
  DetectedFieldValuesRequest,
  DetectedLabelsRequest,
  PatternsRequest,
} from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import {
  byOptionalSelector,
  byQuery,
  bySelector,
  detectedCache,
  isNotPast,
  patternsTtl,
  rangedLimits,
  scanLimits,
  shortened,
  timeRange,
} from './rules/common.js';
import { mergeTenants, mergeScans, mergeAll } from './rules/tenants.js';

export const detectedFields: OperationDescriptor<DetectedFieldsRequest> = {
  selection: byQuery,
  cache: { key: { query: text, range: timeRange, limit: scalar, lineLimit: scalar }, ...detectedCache },
  limits: scanLimits,
  tenants: mergeTenants(mergeScans, (answer) =>
    answer.kind === 'detected-fields' ? { ...answer, fields: answer.fields.slice(0, answer.limit) } : answer,
  ),
  empty: () => doAll(mergeDetectedFields([])),
};

export const detectedFieldValues: OperationDescriptor<DetectedFieldValuesRequest> = {
  selection: byQuery,
  cache: {
    key: { name: scalar, query: text, range: timeRange, limit: scalar, lineLimit: scalar },
    ...detectedCache,
  },
  limits: scanLimits,
  tenants: mergeTenants(mergeScans, (answer) =>
    answer.kind === 'detected-field-values'
      ? { ...answer, values: answer.values.slice(0, answer.limit) }
      : answer,
  ),
  empty: () => doAll(mergeDetectedFieldValues([])),
};

export const detectedLabels: OperationDescriptor<DetectedLabelsRequest> = {
  selection: byOptionalSelector,
  cache: { key: { query: text, range: timeRange }, ...detectedCache },
  limits: rangedLimits,
  tenants: mergeTenants(mergeAll),
  empty: () => doAll(mergeDetectedLabels([])),
};

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
  tenants: mergeTenants<PatternsRequest>(mergeAll, (answer, { limit }) =>
    answer.kind === 'patterns' ? { ...answer, patterns: answer.patterns.slice(0, limit) } : answer,
  ),
  empty: () => doAll(mergePatterns([])),
};
