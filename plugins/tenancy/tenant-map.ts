import { stat } from 'node:fs/promises';
import { parse } from 'yaml';
import { readOptionFile } from '../../core/kernel/options/secret-file.js';

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

/** True if both maps are equal. */
function sameTenantMap(a: TenantMap, b: TenantMap): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([orgId, tenant]) => {
    const other = b.get(orgId);
    return other?.accountId === tenant.accountId && other.projectId === tenant.projectId;
  });
}

/** The account number for an id as in the header (`7`, `fake`); undefined if it is not a number. */
export function accountNumber(text: string): number | undefined {
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
