import { scalar, text } from '../base/keys/parts.js';
import type { LabelValuesRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { browsed, openRange, timeRange } from './rules/keys.js';
import { rangedLimits } from './rules/limits.js';
import { pageOf, widen } from './rules/paging.js';
import { byOptionalSelector } from './rules/selection.js';
import { originalTenantLabel, tenantLabel } from './rules/tenant-names.js';
import { asOptional, merged, mergeSelected, tenantNames } from './rules/tenants.js';
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
    ({ name, query, range, browse }, tenants) => {
      if (name === tenantLabel) return tenantNames(query, browse, tenants);
      return mergeSelected(query, tenants, (selector) => ({
        op: 'label_values',
        name: name === originalTenantLabel ? tenantLabel : name,
        range,
        browse: widen(browse),
        ...asOptional(selector),
      }));
    },
    (answer, { browse }) =>
      answer.kind === 'names' ? { ...answer, values: pageOf(answer.values, browse) } : answer,
  ),
  empty: () => ({ kind: 'names', values: [], warnings: [] }),
};
