import type { Tenant } from '../../core/base/caller.js';
import type { Operation } from '../../core/wire/api/request.js';
import type { ApiError } from '../../core/base/errors/api-error.js';
import { apiError } from '../../core/base/errors/table.js';
import { quoteGo } from '../../core/base/time/index.js';
import { operations } from '../../core/operations/index.js';
import { accountNumber, type TenantMap } from './tenant-map.js';

/** The operator's settings for tenants. */
export interface TenantPolicy {
  readonly tenantLabel?: string;
  readonly allowGlobal: boolean;
  /** True if a number that is not in the map means the backend account with that number. */
  readonly allowNumeric: boolean;
  /** True if the default account may be read without an id and by its aliases; by default only if unknown ids are not rejected. */
  readonly allowDefault?: boolean;
  /** The answer for an unknown id: an empty one, or 403. */
  readonly unknownTenant: 'empty' | 'reject';
  readonly requireTenantHeader: boolean;
  readonly authEnabled: boolean;
  readonly forwardTenantHeader: boolean;
}

/** The tenants in a header: one, or several whose answers are merged. */
export type Resolved =
  | { readonly kind: 'one'; readonly tenant: Tenant }
  | { readonly kind: 'many'; readonly tenants: readonly [Tenant, ...Tenant[]] };

const defaultAliases: ReadonlySet<string> = new Set(['0', 'fake', 'default']);

/**
 * Finds the tenants of a request by its X-Scope-OrgID (docs/protocol/tenants.md#finding-the-tenant). Throws an ApiError if the header is
 * missing or invalid.
 */
export function resolveHeader(
  orgId: string | undefined,
  operation: Operation,
  map: TenantMap,
  policy: TenantPolicy,
  maxTenants: number,
): Resolved {
  const resolved = resolveIds(orgId?.trim() ?? '', operation, map, policy, maxTenants);
  if (operation === 'delete' && resolved.kind === 'one') refuseDeletionOfAll(resolved.tenant, map, policy);
  return resolved;
}

function resolveIds(
  header: string,
  operation: Operation,
  map: TenantMap,
  policy: TenantPolicy,
  maxTenants: number,
): Resolved {
  if (header === '') return { kind: 'one', tenant: withoutHeader(policy) };
  const names = header.split('|').map((name) => name.trim());
  const ids = distinctIds(names);
  const [first, ...others] = ids;
  if (first === undefined) throw apiError('tooFewTenants', {});
  // As in Loki, an empty name is not a tenant, but next to an id it counts as one of several.
  const { tenants, ignoresTenant = false } = operations[operation];
  if (others.length === 0 && !names.includes(''))
    return { kind: 'one', tenant: resolveTenant(first, map, policy, ignoresTenant) };
  if (tenants.kind === 'refused') throw apiError(tenants.error, {});
  if (ids.length > maxTenants) throw apiError('tooManyTenants', { limit: maxTenants });
  if (ids.includes('*')) throw apiError('wildcardInMultiTenant', {});
  const tenantOf = (id: string): Tenant => ({ ...resolveTenant(id, map, policy), limitIds: ids });
  return { kind: 'many', tenants: [tenantOf(first), ...others.map(tenantOf)] };
}

/**
 * Finds the tenant for one id by map, `*`, default alias, label, number (if allowed), in this order.
 * @param ignoresId true if an id that no tenant can have counts as none
 */
export function resolveTenant(id: string, map: TenantMap, policy: TenantPolicy, ignoresId = false): Tenant {
  const mapped = map.get(id);
  if (mapped !== undefined) return { id, ...mapped, streamField: undefined, forwardHeader: false };
  if (id === '*') {
    const isAllowed = policy.tenantLabel === undefined ? isDefaultAllowed(policy) : policy.allowGlobal;
    if (!isAllowed) throw apiError('globalTenantDisabled', {});
    return { ...defaultTenant, id };
  }
  const forwardHeader = policy.forwardTenantHeader;
  if (defaultAliases.has(id))
    return isDefaultAllowed(policy)
      ? { ...defaultTenant, id, forwardHeader }
      : unknownTenant(id, policy, ignoresId);
  if (policy.tenantLabel !== undefined) {
    // Node already rejects these in headers, but not every request comes from a header.
    if (/[\r\n\0]/.test(id)) throw apiError('tenantCharacter', {});
    return { ...defaultTenant, id, streamField: policy.tenantLabel };
  }
  const accountId = policy.allowNumeric ? accountNumber(id) : undefined;
  // Numbers may spell the default account differently, such as 00.
  const isClosed = accountId === 0 && !isDefaultAllowed(policy);
  if (accountId === undefined || isClosed) return unknownTenant(id, policy, ignoresId);
  return { id, accountId, projectId: 0, streamField: undefined, forwardHeader };
}

/** A tenant with an account number that no backend has, so that caches distinguish its answers from those of every other tenant. */
function unknownTenant(id: string, { unknownTenant: policy }: TenantPolicy, ignoresId: boolean): Tenant {
  if (policy === 'reject') throw apiError('unknownTenant', { tenant: quoteGo(id).slice(1, -1) });
  const fault = faultOfId(id);
  if (fault !== undefined && ignoresId) return defaultTenant;
  if (fault !== undefined) throw fault;
  return { id, accountId: -1, projectId: 0, streamField: undefined, forwardHeader: false, hasNoData: true };
}

function faultOfId(id: string): ApiError | undefined {
  if (id === '.' || id === '..') return apiError('dottedTenantId', {});
  const character = unsupportedInIds.exec(id)?.[0];
  if (character !== undefined) return apiError('badTenantId', { tenant: id, character });
  return id.length > maxIdLength ? apiError('longTenantId', { limit: maxIdLength }) : undefined;
}

/** Maximum length of an id in Loki. */
const maxIdLength = 150;

/** Characters that Loki rejects in ids; ids in the map and for label-based tenancy may contain them. */
const unsupportedInIds = /[^a-zA-Z0-9!_.*'()-]/;

function withoutHeader(policy: TenantPolicy): Tenant {
  if (policy.requireTenantHeader || policy.authEnabled || !isDefaultAllowed(policy))
    throw apiError('missingTenant', {});
  return defaultTenant;
}

function isDefaultAllowed({ allowDefault, unknownTenant: policy }: TenantPolicy): boolean {
  return allowDefault ?? policy !== 'reject';
}

/** Rejects a deletion by the account's own tenant if tenants share the account and differ by a label: it would delete the logs of all. */
function refuseDeletionOfAll(
  { id, streamField }: Tenant,
  map: TenantMap,
  { tenantLabel }: TenantPolicy,
): void {
  if (tenantLabel !== undefined && streamField === undefined && !map.has(id))
    throw apiError('deleteOfAllTenants', {});
}

/** The backend's default tenant; the id is empty because the client sent none. */
const defaultTenant: Tenant = {
  id: '',
  accountId: 0,
  projectId: 0,
  streamField: undefined,
  forwardHeader: false,
};

/** The unique ids of a header, sorted as in Loki. */
function distinctIds(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== ''))].sort();
}
