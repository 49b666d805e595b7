import { causeOr, findOption, howToSet, isFilled, type FoundOption } from '../option-lookup.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import type { TextRule } from '../rule.js';
import { tenantMap } from './numeric-tenants.js';

/** R059: the default tenant cannot bypass tenants that are told apart. */
export const defaultTenant: TextRule = {
  id: 'R059',
  title: 'an open default tenant beside tenants',
  tier: 'meaning',
  severity: 'warning',
  docs: "The ids `0`, `fake` and `default`, and requests without `X-Scope-OrgID`, read the backend's default account, as specified. With `-tenant-label` that account holds the logs of every tenant; with a tenant map and `-tenant.allow-numeric=false` clients still reach it beside the tenants of the map. Set `-tenant.allow-default=false`, or `-tenant.unknown=reject`, which implies it; where the default account is meant, set `-tenant.allow-default=true` to say so.",
  check(draft) {
    const allowed = findOption(draft, 'tenant.allow-default');
    const isRejecting = findOption(draft, 'tenant.unknown')?.value === 'reject';
    if (allowed === undefined || allowed.value !== undefined || isRejecting) return [];
    const found = reachOf(draft);
    if (found === undefined) return [];
    const message = `X-Scope-OrgID 0, fake and default still read ${found.reach}`;
    return [
      {
        at: causeOr(found.cause, allowed),
        message,
        fix: `set ${howToSet(allowed, 'tenant.allow-default')} to false`,
      },
    ];
  },
};

function reachOf(draft: PipelineDraft): { readonly cause: FoundOption; readonly reach: string } | undefined {
  const label = findOption(draft, 'tenant-label');
  if (isFilled(label)) return { cause: label, reach: 'the logs of every tenant of tenantLabel' };
  const map = tenantMap(draft);
  if (map === undefined || findOption(draft, 'tenant.allow-numeric')?.value !== false) return undefined;
  return { cause: map, reach: "the backend's default account, beside the tenants of the map" };
}
