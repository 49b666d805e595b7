import { valueOf } from '../../pipeline/located.js';
import { findOption } from '../option-lookup.js';
import type { Complaint, TextRule } from '../rule.js';

const maxId = 4_294_967_295;

/** R047: tenant numbers fit the backend's 32 bits. */
export const tenantIds: TextRule = {
  id: 'R047',
  title: 'backend tenant ids are uint32',
  tier: 'meaning',
  severity: 'error',
  docs: '`account_id` and `project_id` of a tenant map are whole numbers from 0 to 4294967295, as numbers or as texts.',
  check(draft) {
    const map = findOption(draft, 'tenant-map');
    if (typeof map?.value !== 'object' || map.value === null) return [];
    const node = draft.entries
      .map((entry) => valueOf(entry.options?.node, map.definition.key))
      .find((found) => found?.at === map.at);
    return Object.entries<unknown>({ ...map.value }).flatMap(([tenant, ids]) =>
      (['account_id', 'project_id'] as const).flatMap((key): readonly Complaint[] => {
        const id: unknown =
          typeof ids === 'object' && ids !== null ? new Map(Object.entries(ids)).get(key) : undefined;
        if (id === undefined || isUint32(id)) return [];
        const at = valueOf(valueOf(node, tenant), key)?.at ?? map.at;
        const message = `${key} of tenant "${tenant}" must be a uint32, not ${JSON.stringify(id)}`;
        return [{ at, message, fix: `write a whole number from 0 to ${maxId}` }];
      }),
    );
  },
};

function isUint32(id: unknown): boolean {
  return /^[0-9]{1,10}$/.test(String(id)) && Number(id) <= maxId;
}
