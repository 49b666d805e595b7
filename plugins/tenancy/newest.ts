import type { MergeOptions } from '../../core/wire/answer/merge/index.js';
import type { Answer } from '../../core/wire/answer/types.js';
import type {
  DetectedFieldsRequest,
  DetectedFieldValuesRequest,
} from '../../core/wire/api/discovery-request.js';
import { defaultStepNs } from '../../core/wire/api/params/reader.js';
import type { ApiRequest } from '../../core/wire/api/request.js';
import type { Part } from '../../core/operations/descriptor.js';
import { tenantLabel } from '../../core/operations/rules/tenant-names.js';

type ScanRequest = DetectedFieldsRequest | DetectedFieldValuesRequest;

/** Whether a request looks at the newest lines. */
export function isScan(request: ApiRequest): request is ScanRequest {
  return request.op === 'detected_fields' || request.op === 'detected_field_values';
}

/**
 * The parts of a request that looks at the newest lines of all tenants together: how many of them are a tenant's is found by a query for
 * these lines. They keep their order, which is that of Loki's streams, because what is read last decides the type of a field.
 * @param merged asks parts and merges their answers
 */
export async function partsOfNewest(
  { query, range, lineLimit: limit }: ScanRequest,
  parts: readonly Part[],
  merged: (parts: readonly Part[], options: MergeOptions) => Promise<Answer | undefined>,
): Promise<readonly Part[]> {
  if (parts.length < 2) return parts;
  const direction = 'backward';
  const stepNs = defaultStepNs(range);
  const lines = { op: 'query_range', range, stepNs, limit, direction, intervalNs: 0n } as const;
  const newest = await merged(
    parts.map(({ tenant, request }) => ({
      tenant,
      request: { ...lines, query: isScan(request) ? request.query : query },
    })),
    { direction, limit },
  );
  const counts = new Map<string, number>();
  for (const { labels, entries } of newest?.kind === 'streams' ? newest.streams : []) {
    const id = labels.get(tenantLabel);
    counts.set(id, (counts.get(id) ?? 0) + entries.length);
  }
  return parts.flatMap(({ tenant, request }) => {
    const lineLimit = counts.get(tenant.id) ?? 0;
    return lineLimit > 0 && isScan(request) ? [{ tenant, request: { ...request, lineLimit } }] : [];
  });
}
