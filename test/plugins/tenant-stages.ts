import { optionsOf } from '../../core/testing/index.js';
import { defineStage, type StagePlugin } from '../../core/plugin/index.js';
import tenancy from '../../plugins/tenancy/index.js';

const tellTenant = defineStage({
  name: 'tell-tenant',
  summary: 'Tells the tenant, as the last stage of a pipeline does.',
  needs: ['tenant'],
  gives: [],
  rest: 'never',
  create: () => ({ handle: ({ slots }) => Promise.resolve({ kind: 'tenant', tenant: slots.tenant }) }),
});

/** A chain for endpoints that need only the tenant. */
export function tenantStages(
  options: Readonly<Record<string, unknown>> = {},
): readonly { readonly plugin: StagePlugin; readonly options?: unknown }[] {
  // The slots that a plugin needs are checked when the pipeline starts.
  const resolving = tenancy as unknown as StagePlugin;
  return [
    { plugin: resolving, options: optionsOf('tenancy', options) },
    { plugin: tellTenant as unknown as StagePlugin },
  ];
}
