import type { LintFile, LintFinding, LintOption, LintRule } from '../../core/plugin/index.js';

const maxId = 4_294_967_295;

/** Tenant numbers must fit the backend, and no id may bypass the separation of tenants. */
export const lint: readonly LintRule[] = [
  {
    id: 'R047',
    title: 'backend tenant ids are uint32',
    severity: 'error',
    docs: '`account_id` and `project_id` of a tenant map are integers from 0 to 4294967295, as numbers or as strings.',
    check(file) {
      const map = file.own('tenantMap');
      return Object.entries<unknown>({ ...objectOf(map.value) }).flatMap(([tenant, ids]) =>
        (['account_id', 'project_id'] as const).flatMap((key): readonly LintFinding[] => {
          const id: unknown = new Map<string, unknown>(Object.entries(objectOf(ids))).get(key);
          if (id === undefined || isUint32(id)) return [];
          const message = `${key} of tenant "${tenant}" must be a uint32, not ${JSON.stringify(id)}`;
          return [{ at: map.within([tenant, key]), message, fix: `write a whole number from 0 to ${maxId}` }];
        }),
      );
    },
  },
  {
    id: 'R052',
    title: 'numeric tenant ids together with a tenant map',
    severity: 'warning',
    docs: 'With a tenant map, a numeric `X-Scope-OrgID` that is not in the map still selects the backend account with that number, as specified: `11` reads account 11 even if the map assigns that account to another id. If clients choose their own id, set `-tenant.allow-numeric=false`; if numeric ids are intended, set it to true.',
    check(file) {
      const numeric = file.own('allowNumeric');
      const map = tenantMap(file);
      if (numeric.value !== true || numeric.isGiven || map === undefined) return [];
      const message =
        'a tenant map is set, but a numeric X-Scope-OrgID still reads the backend account with that number, even if the map assigns it to another tenant';
      return [{ at: causeOr(map, numeric), message, fix: `set ${numeric.ways} to false` }];
    },
  },
  {
    id: 'R059',
    title: 'an open default tenant together with other tenants',
    severity: 'warning',
    docs: "The ids `0`, `fake` and `default`, and requests without `X-Scope-OrgID`, read the backend's default account, as specified. With `-tenant-label` that account holds the logs of every tenant; with a tenant map and `-tenant.allow-numeric=false` clients still reach it beside the tenants of the map. Set `-tenant.allow-default=false`, or `-tenant.unknown=reject`, which implies it; where the default account is meant, set `-tenant.allow-default=true` to say so.",
    check(file) {
      const allowed = file.own('allowDefault');
      if (allowed.value !== undefined || file.own('unknownTenant').value === 'reject') return [];
      const found = openReach(file);
      if (found === undefined) return [];
      const message = `X-Scope-OrgID 0, fake and default still read ${found.reach}`;
      return [{ at: causeOr(found.cause, allowed), message, fix: `set ${allowed.ways} to false` }];
    },
  },
];

/** An option that lets the default tenant read the logs of separated tenants, and the option that separates them. */
function openReach(file: LintFile): { readonly cause: LintOption; readonly reach: string } | undefined {
  const label = file.own('tenantLabel');
  if (label.text !== '') return { cause: label, reach: 'the logs of every tenant of tenantLabel' };
  const map = tenantMap(file);
  if (map === undefined || file.own('allowNumeric').value !== false) return undefined;
  return { cause: map, reach: "the backend's default account, in addition to the tenants of the map" };
}

/** The option that sets a tenant map. */
function tenantMap(file: LintFile): LintOption | undefined {
  const map = file.own('tenantMap');
  if (Object.keys(objectOf(map.value)).length > 0) return map;
  const path = file.own('tenantMapFile');
  return path.text === '' ? undefined : path;
}

/** The position of a finding about an option that is not set: the flag or variable that makes it matter, or else its owner. */
function causeOr(cause: LintOption, option: LintOption): LintOption['at'] {
  return cause.at.given === undefined ? option.at : cause.at;
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function isUint32(id: unknown): boolean {
  return /^[0-9]{1,10}$/.test(String(id)) && Number(id) <= maxId;
}
