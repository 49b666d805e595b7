import { stat } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Tenant } from '../../core/base/caller.js';
import type { ApiError } from '../../core/base/errors/api-error.js';
import { apiError } from '../../core/base/errors/table.js';
import type { TenancyOptions } from '../../core/base/options.gen.js';
import { quoteGo } from '../../core/base/label-set.js';
import { readOptionFile } from '../../core/kernel/options/secret-file.js';
import { operations } from '../../core/operations/index.js';
import type { Operation } from '../../core/wire/api/request.js';

/** The account and project of a tenant in the backend. */
interface BackendTenant {
  readonly accountId: number;
  readonly projectId: number;
}
/** Backend tenants by X-Scope-OrgID. */
type TenantMap = ReadonlyMap<string, BackendTenant>;

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

/** True if both maps are equal. */
function sameTenantMap(a: TenantMap, b: TenantMap): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([orgId, tenant]) => {
    const other = b.get(orgId);
    return other?.accountId === tenant.accountId && other.projectId === tenant.projectId;
  });
}

/** The account number for an id as in the header (`7`, `fake`); undefined if it is not a number. */
function accountNumber(text: string): number | undefined {
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= maxUint32 ? value : undefined;
}

function entriesOf(value: unknown, where: string): readonly (readonly [string, unknown])[] {
  // YAML keys may be numbers, but the header is text.
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

/** The sources of the tenant map. */
export interface MapSettings {
  /** The map given by flag, environment or pipeline file. */
  readonly inline: unknown;
  readonly file: string | undefined;
  /** The current value of TENANT_MAP; read again on every reload. */
  readonly fromEnvironment: () => string | undefined;
}

/**
 * The current tenant map (docs/protocol/tenants.md#tenant-map). Entries of a file override the inline map; the file is read again on reload
 * or when it has changed. Without a file, a map that came from TENANT_MAP is read again on reload. An invalid map changes nothing.
 */
export class MapSource {
  readonly #settings: MapSettings;
  #inline: TenantMap;
  readonly #isFromEnvironment: boolean;
  #current: TenantMap;
  /** Identifies the version of the file that was last read, successfully or not. */
  #stamp: string | undefined;

  /** Reads the inline map only; throws an Error if it is invalid. */
  constructor(settings: MapSettings) {
    this.#settings = settings;
    this.#inline = readTenantMap(settings.inline, 'tenant-map');
    this.#current = this.#inline;
    this.#isFromEnvironment = this.#inline.size > 0 && this.#equalsEnvironment();
  }

  get current(): TenantMap {
    return this.#current;
  }

  /** Reads everything again; true if the map has changed. An Error leaves it unchanged. */
  async reload(): Promise<boolean> {
    const { file, fromEnvironment } = this.#settings;
    if (file !== undefined) return this.#readFile(file, await stampOf(file));
    if (!this.#isFromEnvironment) return false;
    const text = fromEnvironment() ?? '';
    this.#inline = parseTenantMap(text, 'TENANT_MAP');
    return this.#replace(this.#inline);
  }

  /** Reads the file if it has changed since the last read; true if the map has changed. */
  async poll(): Promise<boolean> {
    const { file } = this.#settings;
    if (file === undefined) return false;
    const stamp = await stampOf(file);
    return stamp === this.#stamp ? false : this.#readFile(file, stamp);
  }

  async #readFile(file: string, stamp: string): Promise<boolean> {
    // Set before reading, so that an invalid file is reported once instead of on every poll.
    this.#stamp = stamp;
    const fromFile = parseTenantMap((await readOptionFile('-tenant-map-file', file)).toString('utf8'), file);
    return this.#replace(new Map([...this.#inline, ...fromFile]));
  }

  #replace(map: TenantMap): boolean {
    if (sameTenantMap(map, this.#current)) return false;
    this.#current = map;
    return true;
  }

  #equalsEnvironment(): boolean {
    const text = this.#settings.fromEnvironment();
    if (text === undefined || text === '') return false;
    try {
      return sameTenantMap(parseTenantMap(text, 'TENANT_MAP'), this.#inline);
    } catch {
      // The map came from a flag, so the variable does not matter.
      return false;
    }
  }
}

/** A stamp that changes whenever the file does, including when it is deleted or replaced by one with the same modification time. */
async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeNs, size, ino } = await stat(file, { bigint: true });
    return `${mtimeNs}.${size}.${ino}`;
  } catch {
    // Reading it will report the problem.
    return 'unreadable';
  }
}

/** The operator's settings for tenants. */
export type TenantPolicy = Pick<
  TenancyOptions,
  | 'tenantLabel'
  | 'allowGlobal'
  | 'allowNumeric'
  | 'allowDefault'
  | 'unknownTenant'
  | 'requireTenantHeader'
  | 'authEnabled'
  | 'forwardTenantHeader'
>;

/** The tenants in a header: one, or several whose answers are merged. */
type Resolved =
  | { readonly kind: 'one'; readonly tenant: Tenant }
  | { readonly kind: 'many'; readonly tenants: readonly [Tenant, ...Tenant[]] };

const defaultAliases: ReadonlySet<string> = new Set(['0', 'fake', 'default']);

/**
 * Finds the tenants of a request by its X-Scope-OrgID (docs/protocol/tenants.md#finding-the-tenant). Throws an ApiError if the header is
 * missing or invalid.
 */
export function resolveHeader(
  orgId: string | undefined,
  operation: Operation,
  map: TenantMap,
  policy: TenantPolicy,
  maxTenants: number,
): Resolved {
  const resolved = resolveIds(orgId?.trim() ?? '', operation, map, policy, maxTenants);
  if (operation === 'delete' && resolved.kind === 'one') refuseDeletionOfAll(resolved.tenant, map, policy);
  return resolved;
}

function resolveIds(
  header: string,
  operation: Operation,
  map: TenantMap,
  policy: TenantPolicy,
  maxTenants: number,
): Resolved {
  if (header === '') return { kind: 'one', tenant: withoutHeader(policy) };
  const names = header.split('|').map((name) => name.trim());
  const ids = distinctIds(names);
  const [first, ...others] = ids;
  if (first === undefined) throw apiError('tooFewTenants', {});
  // As in Loki, an empty name is not a tenant, but next to an id it counts as one of several.
  const { tenants, ignoresTenant = false } = operations[operation];
  if (others.length === 0 && !names.includes(''))
    return { kind: 'one', tenant: resolveTenant(first, map, policy, ignoresTenant) };
  if (tenants.kind === 'refused') throw apiError(tenants.error, {});
  if (ids.length > maxTenants) throw apiError('tooManyTenants', { limit: maxTenants });
  if (ids.includes('*')) throw apiError('wildcardInMultiTenant', {});
  const tenantOf = (id: string): Tenant => ({ ...resolveTenant(id, map, policy), limitIds: ids });
  return { kind: 'many', tenants: [tenantOf(first), ...others.map(tenantOf)] };
}

/**
 * Finds the tenant for one id by map, `*`, default alias, label, number (if allowed), in this order.
 * @param ignoresId true if an id that no tenant can have counts as none
 */
function resolveTenant(id: string, map: TenantMap, policy: TenantPolicy, ignoresId = false): Tenant {
  const mapped = map.get(id);
  if (mapped !== undefined) return { id, ...mapped, streamField: undefined, forwardHeader: false };
  if (id === '*') {
    const isAllowed = policy.tenantLabel === undefined ? isDefaultAllowed(policy) : policy.allowGlobal;
    if (!isAllowed) throw apiError('globalTenantDisabled', {});
    return { ...defaultTenant, id };
  }
  const forwardHeader = policy.forwardTenantHeader;
  if (defaultAliases.has(id))
    return isDefaultAllowed(policy)
      ? { ...defaultTenant, id, forwardHeader }
      : unknownTenant(id, policy, ignoresId);
  if (policy.tenantLabel !== undefined) {
    // Node already rejects these in headers, but not every request comes from a header.
    if (/[\r\n\0]/.test(id)) throw apiError('tenantCharacter', {});
    return { ...defaultTenant, id, streamField: policy.tenantLabel };
  }
  const accountId = policy.allowNumeric ? accountNumber(id) : undefined;
  // Numbers may spell the default account differently, such as 00.
  const isClosed = accountId === 0 && !isDefaultAllowed(policy);
  if (accountId === undefined || isClosed) return unknownTenant(id, policy, ignoresId);
  return { id, accountId, projectId: 0, streamField: undefined, forwardHeader };
}

/** A tenant with an account number that no backend has, so that caches distinguish its answers from those of every other tenant. */
function unknownTenant(id: string, { unknownTenant: policy }: TenantPolicy, ignoresId: boolean): Tenant {
  if (policy === 'reject') throw apiError('unknownTenant', { tenant: quoteGo(id).slice(1, -1) });
  const fault = faultOfId(id);
  if (fault !== undefined && ignoresId) return defaultTenant;
  if (fault !== undefined) throw fault;
  return { id, accountId: -1, projectId: 0, streamField: undefined, forwardHeader: false, hasNoData: true };
}

function faultOfId(id: string): ApiError | undefined {
  if (id === '.' || id === '..') return apiError('dottedTenantId', {});
  const character = unsupportedInIds.exec(id)?.[0];
  if (character !== undefined) return apiError('badTenantId', { tenant: id, character });
  return id.length > maxIdLength ? apiError('longTenantId', { limit: maxIdLength }) : undefined;
}

/** Maximum length of an id in Loki. */
const maxIdLength = 150;

/** Characters that Loki rejects in ids; ids in the map and for label-based tenancy may contain them. */
const unsupportedInIds = /[^a-zA-Z0-9!_.*'()-]/;

function withoutHeader(policy: TenantPolicy): Tenant {
  if (policy.requireTenantHeader || policy.authEnabled || !isDefaultAllowed(policy))
    throw apiError('missingTenant', {});
  return defaultTenant;
}

function isDefaultAllowed({ allowDefault, unknownTenant: policy }: TenantPolicy): boolean {
  return allowDefault ?? policy !== 'reject';
}

/** Rejects a deletion by the account's own tenant if tenants share the account and differ by a label: it would delete the logs of all. */
function refuseDeletionOfAll(
  { id, streamField }: Tenant,
  map: TenantMap,
  { tenantLabel }: TenantPolicy,
): void {
  if (tenantLabel !== undefined && streamField === undefined && !map.has(id))
    throw apiError('deleteOfAllTenants', {});
}

/** The backend's default tenant; the id is empty because the client sent none. */
const defaultTenant: Tenant = {
  id: '',
  accountId: 0,
  projectId: 0,
  streamField: undefined,
  forwardHeader: false,
};

/** The unique ids of a header, sorted as in Loki. */
function distinctIds(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== ''))].sort();
}
