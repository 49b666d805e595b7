import { scalar, text } from '../base/key-parts.js';
import type { LabelsRequest, LabelValuesRequest, SeriesRequest, TenantRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import {
  browsed,
  byNothing,
  byOptionalSelector,
  bySelectors,
  namesCache,
  noLimits,
  noStreams,
  openRange,
  rangedLimits,
  seriesCache,
  textSet,
  timeRange,
} from './rules/common.js';
import { isFound, pageOf, widen } from './rules/paging.js';
import { tenantLabel, originalTenantLabel } from './rules/tenant-names.js';
import { mergeTenants, mergeAll, tenantNames, oneTenantOnly } from './rules/tenants.js';

export const labels: OperationDescriptor<LabelsRequest> = {
  selection: byOptionalSelector,
  cache: { key: { query: text, range: timeRange, browse: browsed, isOpenRange: openRange }, ...namesCache },
  limits: rangedLimits,
  tenants: mergeTenants(
    (request, tenants) => mergeAll({ ...request, browse: widen(request.browse) }, tenants),
    (answer, { browse }) => {
      if (answer.kind !== 'names') return answer;
      const values = isFound(tenantLabel, browse) ? [...answer.values, tenantLabel].sort() : answer.values;
      return { ...answer, values: pageOf(values, browse) };
    },
  ),
  empty: () => ({ kind: 'names', values: [], warnings: [] }),
};

export const labelValues: OperationDescriptor<LabelValuesRequest> = {
  selection: byOptionalSelector,
  cache: {
    key: { name: scalar, query: text, range: timeRange, browse: browsed, isOpenRange: openRange },
    ...namesCache,
  },
  limits: rangedLimits,
  tenants: mergeTenants(
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

export const series: OperationDescriptor<SeriesRequest> = {
  selection: bySelectors,
  cache: { key: { selectors: textSet, range: timeRange, isOpenRange: openRange }, ...seriesCache },
  limits: rangedLimits,
  tenants: mergeTenants(mergeAll),
  empty: () => ({ kind: 'series', series: [], warnings: [] }),
};

export const tenant: OperationDescriptor<TenantRequest> = {
  selection: byNothing,
  // Finding the tenant costs less than a cache lookup.
  cache: 'never',
  limits: noLimits,
  tenants: oneTenantOnly,
  empty: noStreams,
};
