import type { TailRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { noStreams } from './rules/empty.js';
import { shortened } from './rules/limits.js';
import { byQuery } from './rules/selection.js';

export const tail: OperationDescriptor<TailRequest> = {
  selection: byQuery,
  // A tail is never the same twice.
  cache: 'never',
  // How long it may last is an option of its endpoint.
  limits: { checks: [], within: shortened, isTimed: false, bytesRead: undefined },
  tenants: { kind: 'refused', error: 'severalTenantsTailed' },
  empty: noStreams,
};
