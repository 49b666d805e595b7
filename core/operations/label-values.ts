import { scalar, text } from '../base/keys/parts.js';
import type { LabelValuesRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { browsed, openRange, timeRange } from './rules/keys.js';
import { rangedLimits } from './rules/limits.js';
import { pageOf, widen } from './rules/paging.js';
import { byOptionalSelector } from './rules/selection.js';
import { originalTenantLabel, tenantLabel } from './rules/tenant-names.js';
import { merged, mergeAll, tenantNames } from './rules/tenants.js';
import { isRecentListing, namesTtl } from './rules/ttl.js';

export const labelValues: OperationDescriptor<LabelValuesRequest> = {
  selection: byOptionalSelector,
  cache: {
    key: { name: scalar, query: text, range: timeRange, browse: browsed, isOpenRange: openRange },
    ttlMs: namesTtl,
    isRecent: isRecentListing,
    isChunked: false,
  },
  limits: rangedLimits,
  tenants: merged(
    (request, tenants) => {
      const { name, browse } = request;
      if (name === tenantLabel) return tenantNames(browse, tenants);
      const stored = name === originalTenantLabel ? tenantLabel : name;
      return mergeAll({ ...request, name: stored, browse: widen(browse) }, tenants);
    },
    (answer, { browse }) =>
      answer.kind === 'names'
        ? { kind: 'names', values: pageOf(answer.values, browse), warnings: answer.warnings }
        : answer,
  ),
  empty: () => ({ kind: 'names', values: [], warnings: [] }),
};
