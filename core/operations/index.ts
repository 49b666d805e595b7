/** All operations, each with its description. A missing description is a type error. */
import { apiError } from '../base/errors/table.js';
import type { ApiRequest, Operation } from '../wire/api/request.js';
import type { LimitsSettings } from '../wire/limits/limits.js';
import type { TenantLimits } from '../wire/limits/tenant-limits.js';
import { deletion, deletions } from './deletions.js';
import type { ChangeMatchers, OperationDescriptor } from './descriptor.js';
import { detectedFieldValues, detectedFields, detectedLabels, patterns } from './detected.js';
import { formatQuery, queryRange, query, tail } from './queries.js';
import { indexShards, indexStats, volumeRange, volume } from './volumes.js';
import { labelValues, labels, series, tenant } from './listings.js';

export type RequestOf<Op extends Operation> = Extract<ApiRequest, { readonly op: Op }>;

export const operations: { readonly [Op in Operation]: OperationDescriptor<RequestOf<Op>> } = {
  query_range: queryRange,
  query,
  labels,
  label_values: labelValues,
  series,
  index_stats: indexStats,
  index_shards: indexShards,
  volume,
  volume_range: volumeRange,
  detected_labels: detectedLabels,
  detected_fields: detectedFields,
  detected_field_values: detectedFieldValues,
  patterns,
  format_query: formatQuery,
  tail,
  delete: deletion,
  deletions,
  tenant,
};

/** The descriptor of a request's operation. */
export function operationOf<Op extends Operation>({
  op,
}: {
  readonly op: Op;
}): OperationDescriptor<RequestOf<Op>> {
  return operations[op];
}

/**
 * Returns the request with `change` applied to the matchers of every selector, on the syntax tree. A listing without a selector gets one if
 * `change` returns matchers for an empty list. Throws LogqlError for a query that cannot be parsed.
 */
export function mapSelectors(request: ApiRequest, change: ChangeMatchers): ApiRequest {
  return operationOf(request).selection.mapSelectors(request, change);
}

/** The size in bytes of a text that is longer than allowed; `maxBytes` 0 allows any length. Such a text is rejected before it is parsed. */
export function oversizedText(request: ApiRequest, maxBytes: number): number | undefined {
  if (maxBytes === 0) return undefined;
  return operationOf(request)
    .selection.texts(request)
    .map((text) => (text.length > maxBytes / maxUtf8Bytes ? Buffer.byteLength(text) : 0))
    .find((bytes) => bytes > maxBytes);
}

/** Maximum number of UTF-8 bytes per UTF-16 unit. */
const maxUtf8Bytes = 3;

/** Throws the error of the first limit that a request exceeds; a limit of 0 is disabled. For an allowed request this is only arithmetic. */
export async function checkRequestLimits(
  request: ApiRequest,
  limits: TenantLimits,
  { maxQueryLengthBytes }: Pick<LimitsSettings, 'maxQueryLengthBytes'>,
  signal: AbortSignal,
): Promise<void> {
  const length = oversizedText(request, maxQueryLengthBytes);
  if (length !== undefined) throw apiError('queryTooLong', { length, limit: maxQueryLengthBytes });
  for (const check of operationOf(request).limits.checks) await check(request, limits, signal);
}
