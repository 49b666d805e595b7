import type { Tenant } from '../caller.js';
import { keyOf, leftOut, scalar, type KeyParts } from './parts.js';

/** Includes account and project, because a reload of the tenant map can point the same id to other data. */
export const tenantKey: KeyParts<Tenant> = {
  id: scalar,
  accountId: scalar,
  projectId: scalar,
  streamField: scalar,
  forwardHeader: scalar,
  mapping: (mapping) => (mapping === '' ? undefined : scalar(mapping)),
  limitIds: leftOut('limits only refuse requests, and refusals are not cached'),
  oldestNs: leftOut('moves with the clock, so no key would ever repeat; answers expire instead'),
  hasNoData: leftOut('such tenants have account -1'),
};

const credentialsPart = '&credentials=';

/** True if the data may depend on credentials that the caller sends to the backend. */
export function hasCredentials(owner: string): boolean {
  return owner.includes(credentialsPart);
}

/** The common prefix of all owners of a tenant. */
export function ownersOfTenant(id: string): string {
  return `${keyOf({ id: scalar }, { id })}&`;
}

/**
 * Identifies the data that a tenant sees in the backend.
 * @param credentials a fingerprint of the credentials sent to the backend, if its data may depend on them
 */
export function dataOwner(tenant: Tenant, credentials = ''): string {
  const owner = keyOf(tenantKey, tenant);
  return credentials === '' ? owner : `${owner}${credentialsPart}${scalar(credentials)}`;
}
