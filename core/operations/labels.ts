import { text } from '../base/keys/parts.js';
import type { LabelsRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { browsed, openRange, timeRange } from './rules/keys.js';
import { rangedLimits } from './rules/limits.js';
import { isFound, pageOf, widen } from './rules/paging.js';
import { byOptionalSelector } from './rules/selection.js';
import { tenantLabel } from './rules/tenant-names.js';
import { merged, mergeAll } from './rules/tenants.js';
import { isRecentListing, namesTtl } from './rules/ttl.js';

export const labels: OperationDescriptor<LabelsRequest> = {
  selection: byOptionalSelector,
  cache: {
    key: { query: text, range: timeRange, browse: browsed, isOpenRange: openRange },
    ttlMs: namesTtl,
    isRecent: isRecentListing,
    isChunked: false,
  },
  limits: rangedLimits,
  tenants: merged(
    (request, tenants) => mergeAll({ ...request, browse: widen(request.browse) }, tenants),
    (answer, { browse }) => {
      if (answer.kind !== 'names') return answer;
      const values = isFound(tenantLabel, browse) ? [...answer.values, tenantLabel].sort() : answer.values;
      return { ...answer, values: pageOf(values, browse) };
    },
  ),
  empty: () => ({ kind: 'names', values: [], warnings: [] }),
};
