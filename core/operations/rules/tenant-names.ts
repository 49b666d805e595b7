/** The label that says which tenant a result of several is from (docs/protocol/tenants.md#several-tenants). */
export const tenantLabel = '__tenant_id__';
/** What a stored label of that name is called beside it. */
export const originalTenantLabel = 'original___tenant_id__';
