import type { TenantRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { noStreams } from './rules/empty.js';
import { noLimits } from './rules/limits.js';
import { byNothing } from './rules/selection.js';
import { oneTenantOnly } from './rules/tenants.js';

export const tenant: OperationDescriptor<TenantRequest> = {
  selection: byNothing,
  // Finding the tenant costs less than a cache lookup.
  cache: 'never',
  limits: noLimits,
  tenants: oneTenantOnly,
  empty: noStreams,
};
