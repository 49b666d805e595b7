import type { Tenant } from '../caller.js';
import { keyOf, leftOut, scalar, type KeyParts } from './parts.js';

/** After a reload of the tenant map the same id may mean other data, so an id alone says little. */
export const tenantKey: KeyParts<Tenant> = {
  id: scalar,
  accountId: scalar,
  projectId: scalar,
  streamField: scalar,
  forwardHeader: scalar,
  limitIds: leftOut('limits refuse requests, and refusals are not kept'),
  oldestNs: leftOut('moves with the clock; what it shortens shows in the range of the request'),
  hasNoData: leftOut('follows from an account that no backend has'),
};

/**
 * Names whose data are seen: equal for two exchanges only if the backend shows both the same.
 * @param credentials those that the caller shows to the backend, for what may differ by them
 */
export function dataOwner(tenant: Tenant, credentials = ''): string {
  const owner = keyOf(tenantKey, tenant);
  return credentials === '' ? owner : `${owner}&credentials=${scalar(credentials)}`;
}
