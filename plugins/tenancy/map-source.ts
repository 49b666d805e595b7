import { stat } from 'node:fs/promises';
import { readOptionFile } from '../../core/kernel/options/option-file.js';
import { parseTenantMap, readTenantMap, sameTenantMap, type TenantMap } from './tenant-map.js';

/** Where the tenant map comes from. */
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

  /** Reads the inline map only; throws an Error when it is invalid. */
  constructor(settings: MapSettings) {
    this.#settings = settings;
    this.#inline = readTenantMap(settings.inline, 'tenant-map');
    this.#current = this.#inline;
    this.#isFromEnvironment = this.#inline.size > 0 && this.#equalsEnvironment();
  }

  get current(): TenantMap {
    return this.#current;
  }

  /** Reads everything again. True when the current map changed; an Error leaves it unchanged. */
  async reload(): Promise<boolean> {
    const { file, fromEnvironment } = this.#settings;
    if (file !== undefined) return this.#readFile(file, await stampOf(file));
    if (!this.#isFromEnvironment) return false;
    const text = fromEnvironment() ?? '';
    this.#inline = parseTenantMap(text, 'TENANT_MAP');
    return this.#replace(this.#inline);
  }

  /** Reads the file if it has changed since the last read. True when the current map changed. */
  async poll(): Promise<boolean> {
    const { file } = this.#settings;
    if (file === undefined) return false;
    const stamp = await stampOf(file);
    return stamp === this.#stamp ? false : this.#readFile(file, stamp);
  }

  async #readFile(file: string, stamp: string): Promise<boolean> {
    // Set before reading, so that a broken file is reported once instead of on every poll.
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

/** Changes whenever the file does, including when it is deleted or replaced by one with the same modification time. */
async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeNs, size, ino } = await stat(file, { bigint: true });
    return `${mtimeNs}.${size}.${ino}`;
  } catch {
    // Reading it will report the problem.
    return 'unreadable';
  }
}
