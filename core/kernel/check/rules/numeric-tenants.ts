import { findOption, howToSet, isFilled } from '../option-lookup.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import type { TextRule } from '../rule.js';

/** R052: numeric tenant ids cannot bypass a tenant map. */
export const numericTenants: TextRule = {
  id: 'R052',
  title: 'numbers as tenant ids beside a tenant map',
  tier: 'meaning',
  severity: 'warning',
  docs: 'With a tenant map, an `X-Scope-OrgID` that is a number and not in the map still means the backend account of that number, as specified: `11` reads account 11 though the map gives that account to another id. Where clients choose their own id, set `-tenant.allow-numeric=false`; where numbers are meant, set it to true to say so.',
  check(draft) {
    const numeric = findOption(draft, 'tenant.allow-numeric');
    if (numeric?.value !== true || numeric.origin.kind !== 'default' || !hasTenantMap(draft)) return [];
    const message =
      'a tenant map is set, and an X-Scope-OrgID that is a number still reads the backend account of that number, whoever the map gives it to';
    return [{ at: numeric.at, message, fix: `set ${howToSet(numeric, 'tenant.allow-numeric')} to false` }];
  },
};

export function hasTenantMap(draft: PipelineDraft): boolean {
  const map = findOption(draft, 'tenant-map')?.value;
  const entries = typeof map === 'object' && map !== null ? Object.keys(map).length : 0;
  return entries > 0 || isFilled(findOption(draft, 'tenant-map-file'));
}
