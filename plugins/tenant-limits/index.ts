/** Endpoint plugin `tenant-limits`: the limits of a tenant, for clients to read (spec: Tenant publication). */
import { stringify } from 'yaml';
import { jsonAnswer, textAnswer } from '../../core/answer/finished.js';
import type { LimitValue } from '../../core/limits/published.js';
import type { TenantLimitsOptions } from '../../core/options/options.gen.js';
import {
  apiError,
  defineEndpoint,
  type Host,
  type HttpCall,
  type RouteHandler,
} from '../../core/plugin/index.js';

export default defineEndpoint<TenantLimitsOptions>({
  name: 'tenant-limits',
  summary: 'Shows tenants their limits: /config/tenant/v1/limits and drilldown-limits.',
  create: (options, host) => ({
    routes: new Map<string, RouteHandler>([
      ['tenant_limits', (call) => Promise.resolve(textAnswer(200, printYaml(limitsOf(call, host))))],
      [
        'drilldown_limits',
        (call) =>
          Promise.resolve(
            jsonAnswer({
              limits: Object.fromEntries(limitsOf(call, host)),
              // Logs Drilldown hides its patterns when told that there are none.
              pattern_ingester_enabled: options.patternsEnabled,
              version: 'unknown',
            }),
          ),
      ],
    ]),
  }),
});

/** The published limits of the one tenant that asks; several have no limits of their own. */
function limitsOf({ caller }: HttpCall, host: Pick<Host, 'limits'>): ReadonlyMap<string, LimitValue> {
  const tenantId = caller.orgId?.trim() ?? '';
  if (tenantId.includes('|')) throw apiError('multiTenantEndpoint', {});
  return host.limits.published(tenantId);
}

function printYaml(limits: ReadonlyMap<string, LimitValue>): string {
  // Readers of YAML 1.1 take `yes` and the like for booleans.
  return stringify(limits, { indent: 4, lineWidth: 0, compat: 'yaml-1.1' });
}
