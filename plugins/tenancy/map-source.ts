import { stat } from 'node:fs/promises';
import { readOptionFile } from '../../core/kernel/options/option-file.js';
import { parseTenantMap, readTenantMap, sameTenantMap, type TenantMap } from './tenant-map.js';

/** Where the tenant map comes from. */
export interface MapSettings {
  /** The map given by flag, environment or pipeline file. */
  readonly inline: unknown;
  readonly file: string | undefined;
  /** The value of TENANT_MAP now; read again at every reload. */
  readonly fromEnvironment: () => string | undefined;
}

/**
 * The tenant map in force (docs/protocol/tenants.md#tenant-map). A file wins over the inline map entry by entry and is read again
 * on request or when it has changed; without a file, a map that came from TENANT_MAP is read again on request. A map that cannot be
 * read changes nothing.
 */
export class MapSource {
  readonly #settings: MapSettings;
  #inline: TenantMap;
  readonly #isFromEnvironment: boolean;
  #current: TenantMap;
  /** What the file looked like when it was last read, whether that went well or not. */
  #stamp: string | undefined;

  /** Reads the inline map only; an Error says what is wrong with it. */
  constructor(settings: MapSettings) {
    this.#settings = settings;
    this.#inline = readTenantMap(settings.inline, 'tenant-map');
    this.#current = this.#inline;
    this.#isFromEnvironment = this.#inline.size > 0 && this.#equalsEnvironment();
  }

  get current(): TenantMap {
    return this.#current;
  }

  /** Reads everything that may be read again. True when the map in force changed; an Error leaves it as it was. */
  async reload(): Promise<boolean> {
    const { file, fromEnvironment } = this.#settings;
    if (file !== undefined) return this.#readFile(file, await stampOf(file));
    if (!this.#isFromEnvironment) return false;
    const text = fromEnvironment() ?? '';
    this.#inline = parseTenantMap(text, 'TENANT_MAP');
    return this.#replace(this.#inline);
  }

  /** Reads the file when it has changed since it was read last. True when the map in force changed. */
  async poll(): Promise<boolean> {
    const { file } = this.#settings;
    if (file === undefined) return false;
    const stamp = await stampOf(file);
    return stamp === this.#stamp ? false : this.#readFile(file, stamp);
  }

  async #readFile(file: string, stamp: string): Promise<boolean> {
    // Kept before reading, so that a broken file is reported once and not at every poll.
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
      // A flag gave the map, and nobody has read the variable.
      return false;
    }
  }
}

/** Changes whenever the file does, also when it is replaced by another of the same age or goes away. */
async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeNs, size, ino } = await stat(file, { bigint: true });
    return `${mtimeNs}.${size}.${ino}`;
  } catch {
    // Reading it says what is wrong.
    return 'unreadable';
  }
}
