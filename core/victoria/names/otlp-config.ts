import { memberOf } from '../../base/json-member.js';
import type { LimitsOptions, NamesOptions } from '../../base/options.gen.js';

/**
 * The names options with the promoted attributes of Loki's `otlp_config` in limits, for every tenant that has one: the names of resource
 * attributes that become labels.
 * @throws Error naming the tenant and the field, if the value is not such a configuration
 */
export function withOtlpConfig(
  names: NamesOptions,
  limits: Pick<LimitsOptions, 'tenantLimits' | 'tenantDefaultLimits'>,
): NamesOptions {
  const defaults = names.promotedAttributes;
  const common = promotedBy(limits.tenantDefaultLimits, 'tenant-default-limits', defaults);
  const byTenant = Object.entries(limits.tenantLimits).flatMap(([tenantId, fields]) => {
    const promoted = promotedBy(fields, `tenant-limits["${tenantId}"]`, defaults);
    return promoted === undefined ? [] : [[tenantId, promoted] as const];
  });
  if (common === undefined && byTenant.length === 0) return names;
  return {
    ...names,
    promotedAttributes: common ?? defaults,
    tenantPromotedAttributes: { ...names.tenantPromotedAttributes, ...Object.fromEntries(byTenant) },
  };
}

/** The promoted attributes; undefined without `otlp_config`. */
function promotedBy(
  limits: unknown,
  where: string,
  defaults: readonly string[],
): readonly string[] | undefined {
  const config = memberOf(limits, 'otlp_config');
  const resource = memberOf(config, 'resource_attributes');
  if (resource === undefined) return undefined;
  const attributes = new Set(memberOf(resource, 'ignore_defaults') === true ? [] : defaults);
  const rules: unknown = memberOf(resource, 'attributes_config') ?? [];
  const field = `${where}: otlp_config.resource_attributes.attributes_config`;
  if (!Array.isArray(rules)) throw new Error(`${field} is not a list`);
  for (const rule of rules) {
    if (memberOf(rule, 'action') !== 'index_label') continue;
    const names: unknown = memberOf(rule, 'attributes');
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string'))
      throw new Error(`${field}: index_label needs a list of attributes; regex is not supported`);
    for (const name of names) attributes.add(name);
  }
  return [...attributes];
}
