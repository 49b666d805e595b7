import type { DeleteRequest, DeletionsRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { byNothing, byQuery, noLimits, noStreams } from './rules/common.js';
import { oneTenantOnly } from './rules/tenants.js';

export const deletions: OperationDescriptor<DeletionsRequest> = {
  selection: byNothing,
  // The cached data depends on the answer.
  cache: 'never',
  limits: noLimits,
  tenants: oneTenantOnly,
  empty: noStreams,
};

export const deletion: OperationDescriptor<DeleteRequest> = {
  selection: byQuery,
  // Two equal deletions are still two deletions.
  cache: 'never',
  // A deletion must not be interrupted.
  limits: { ...noLimits, isTimed: false },
  tenants: oneTenantOnly,
  empty: noStreams,
};
