import type { FormatQueryRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { noStreams } from './rules/empty.js';
import { noLimits } from './rules/limits.js';
import { byQueryText } from './rules/selection.js';
import { oneTenantOnly } from './rules/tenants.js';

export const formatQuery: OperationDescriptor<FormatQueryRequest> = {
  selection: byQueryText,
  // Formatting costs less than a cache lookup.
  cache: 'never',
  limits: noLimits,
  tenants: oneTenantOnly,
  ignoresTenant: true,
  empty: noStreams,
};
