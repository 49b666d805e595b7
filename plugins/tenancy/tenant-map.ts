import { parse } from 'yaml';

/** The account and project of a tenant in the backend. */
export interface BackendTenant {
  readonly accountId: number;
  readonly projectId: number;
}
/** Backend tenants by X-Scope-OrgID. */
export type TenantMap = ReadonlyMap<string, BackendTenant>;

const maxUint32 = 0xffff_ffff;

/** Parses a mapping given as an option; `where` starts the message of an Error. */
export function readTenantMap(mapping: unknown, where: string): TenantMap {
  return new Map(
    entriesOf(mapping, where).map(([orgId, entry]) => {
      const fields = new Map(entriesOf(entry, `${where}: tenant "${orgId}"`));
      const idOf = (name: string, fallback?: number): number =>
        readId(fields.get(name), fallback, `${where}: tenant "${orgId}": ${name}`);
      return [orgId, { accountId: idOf('account_id'), projectId: idOf('project_id', 0) }];
    }),
  );
}

/** Parses the text of a map file: YAML, which includes JSON. An empty file is an empty map. */
export function parseTenantMap(text: string, where: string): TenantMap {
  let mapping: unknown;
  try {
    mapping = parse(text, { mapAsMap: true, uniqueKeys: true });
  } catch (error) {
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  return mapping === null ? new Map<string, BackendTenant>() : readTenantMap(mapping, where);
}

/** Whether both maps are equal. */
export function sameTenantMap(a: TenantMap, b: TenantMap): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([orgId, tenant]) => {
    const other = b.get(orgId);
    return other?.accountId === tenant.accountId && other.projectId === tenant.projectId;
  });
}

/** The id for an account number, as the header writes it (`7`, `fake`); undefined when it is not a number. */
export function accountNumber(text: string): number | undefined {
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= maxUint32 ? value : undefined;
}

function entriesOf(value: unknown, where: string): readonly (readonly [string, unknown])[] {
  // YAML keys may be numbers, but the header is a text.
  if (value instanceof Map)
    return [...(value as Map<unknown, unknown>)].map(([key, entry]) => [String(key), entry]);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${where}: must be a mapping`);
  return Object.entries(value);
}

function readId(value: unknown, fallback: number | undefined, where: string): number {
  if (value === undefined && fallback !== undefined) return fallback;
  const id =
    typeof value === 'number' || typeof value === 'string' ? accountNumber(String(value)) : undefined;
  if (id === undefined) throw new Error(`${where}: must be a whole number from 0 to ${maxUint32}`);
  return id;
}
