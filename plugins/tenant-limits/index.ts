/** Endpoint plugin `tenant-limits`: shows clients a tenant's limits (docs/protocol/answers.md#published-tenant-limits). */
import { stringify } from 'yaml';
import { jsonAnswer, textAnswer } from '../../core/wire/answer/encode.js';
import type { LimitValue } from '../../core/wire/limits/published.js';
import { backendVersion } from '../../core/victoria/upstream/version.js';
import type { TenantLimitsOptions } from '../../core/base/options.gen.js';
import {
  apiError,
  askTenant,
  defineEndpoint,
  type Host,
  type HttpCall,
  type RouteHandler,
} from '../../core/plugin/index.js';

export default defineEndpoint<TenantLimitsOptions>({
  name: 'tenant-limits',
  summary: 'Serves the limits of the tenant: /config/tenant/v1/limits and drilldown-limits.',
  create: (options, host) => ({
    routes: new Map<string, RouteHandler>([
      ['tenant_limits', async (call) => textAnswer(200, printYaml(await limitsOf(call, host)))],
      [
        'drilldown_limits',
        async (call) =>
          jsonAnswer({
            limits: Object.fromEntries(await limitsOf(call, host)),
            // Logs Drilldown hides its patterns view if this is false.
            pattern_ingester_enabled: options.patternsEnabled,
            version: 'unknown',
            ...scanLimits,
            ...backendVersion(host).current,
          }),
      ],
    ]),
  }),
});

/** The specification's limits for listings in Logs Drilldown. */
const scanLimits = {
  maxDetectedFields: 1000,
  maxDetectedValues: 1000,
  maxLabelValues: 1000,
  maxLines: 1000,
} as const;

/** The published limits of the requesting tenant; several tenants together have no limits. */
async function limitsOf(
  call: HttpCall,
  host: Pick<Host, 'limits'>,
): Promise<ReadonlyMap<string, LimitValue>> {
  // This route has its own error text for several tenants (docs/protocol/tenants.md#finding-the-tenant).
  if (call.caller.orgId?.includes('|') === true) throw apiError('multiTenantEndpoint', {});
  const { id } = await askTenant(call);
  return host.limits.published(id);
}

function printYaml(limits: ReadonlyMap<string, LimitValue>): string {
  // YAML 1.1 parsers read `yes` and the like as booleans.
  return stringify(limits, { indent: 4, lineWidth: 0, compat: 'yaml-1.1' });
}
