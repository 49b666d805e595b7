import { causeOr, findOption, howToSet, isFilled, type FoundOption } from '../option-lookup.js';
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
    const map = tenantMap(draft);
    if (numeric?.value !== true || numeric.origin.kind !== 'default' || map === undefined) return [];
    const message =
      'a tenant map is set, and an X-Scope-OrgID that is a number still reads the backend account of that number, whoever the map gives it to';
    return [
      {
        at: causeOr(map, numeric),
        message,
        fix: `set ${howToSet(numeric, 'tenant.allow-numeric')} to false`,
      },
    ];
  },
};

/** The option that gives a tenant map. */
export function tenantMap(draft: PipelineDraft): FoundOption | undefined {
  const map = findOption(draft, 'tenant-map');
  const value = map?.value;
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) return map;
  const file = findOption(draft, 'tenant-map-file');
  return isFilled(file) ? file : undefined;
}
