import type { DeletionsRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { noStreams } from './rules/empty.js';
import { noLimits } from './rules/limits.js';
import { byNothing } from './rules/selection.js';
import { oneTenantOnly } from './rules/tenants.js';

export const deletions: OperationDescriptor<DeletionsRequest> = {
  selection: byNothing,
  // What is cached depends on the answer.
  cache: 'never',
  limits: noLimits,
  tenants: oneTenantOnly,
  empty: noStreams,
};
