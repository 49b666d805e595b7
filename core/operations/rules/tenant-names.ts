/** The label with the tenant of a result over several tenants (docs/protocol/tenants.md#several-tenants). */
export const tenantLabel = '__tenant_id__';
/** The new name of a stored label with that name. */
export const originalTenantLabel = 'original___tenant_id__';
