import type { TailRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { noStreams } from './rules/empty.js';
import { shortened } from './rules/limits.js';
import { byQuery } from './rules/selection.js';

export const tail: OperationDescriptor<TailRequest> = {
  selection: byQuery,
  // No two tails are the same.
  cache: 'never',
  // Its maximum duration is an option of its endpoint.
  limits: { checks: [], within: shortened, isTimed: false, bytesRead: undefined },
  tenants: { kind: 'refused', error: 'severalTenantsTailed' },
  empty: noStreams,
};
