/**
 * The database file of the disk cache. It has a connection for writing and one for reading: in WAL mode readers do not wait for a writer.
 * Each method is one statement or two of bounded size. Which SQLite runs them is in core/cache/disk-engine.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { open, rename, rm } from 'node:fs/promises';
import { hasCode, isMissing } from '../base/errors/system-error.js';
import { diskEngine, isDamage, type Connection, type Engine } from './disk-engine/engine.js';

/** A cached answer on disk. Times in Unix milliseconds. */
export interface DiskRow {
  readonly key: string;
  readonly value: Buffer;
  readonly writtenMs: number;
  readonly expiresMs: number;
  /** Protects the row against damage (see `sealed`). */
  readonly seal: Buffer;
}

/** The reason why a file cannot be used: it belongs to another program, to another version of this one, or is damaged. */
export type Defect = 'foreign' | 'other version' | 'damaged';

export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
  constructor(
    readonly defect: Defect,
    cause?: unknown,
  ) {
    super(defect, { cause });
  }
}

/** `RPdc`, the application id in SQLite's header. */
const applicationId = 0x52506463;
/** Version of the tables below. The format of values is part of their keys instead. */
const formatVersion = 1;

const tables = `
  BEGIN;
  CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    written INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    seal BLOB NOT NULL,
    value BLOB NOT NULL
  );
  CREATE INDEX answers_by_expiry ON answers (expires);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formatVersion};
  COMMIT;
`;

/** Milliseconds that a thread waits for another process that has locked the file. */
const busyTimeoutMs = 1_000;
/** An empty journal is truncated to this size. */
const journalBytes = 4 * 1024 * 1024;

/** The file as the disk cache uses it. */
export type DiskStore = Pick<DiskFile, keyof DiskFile>;

interface DiskSize {
  readonly pages: number;
  readonly freePages: number;
  readonly pageBytes: number;
}

/**
 * Opens or creates the file, and writes to it. With `isFresh`, a new file replaces the existing one.
 * @throws UnusableFile, or an error of SQLite if the file cannot be opened or written
 */
export async function openDiskFile(path: string, isFresh: boolean, engine?: Engine): Promise<DiskStore> {
  const sqlite = engine ?? (await diskEngine());
  const lock = await lockFor(path, sqlite);
  let writer: Connection | undefined;
  try {
    if (isFresh) await removeDatabase(path);
    // Log lines are private, so only this user may read the file.
    await (await open(path, 'a', 0o600)).close();
    writer = await connect(sqlite, path, lock);
    await prepare(writer);
    const reader = await connect(sqlite, path);
    return new DiskFile(writer, reader, lock);
  } catch (error) {
    await writer?.close();
    await lock.close();
    throw isDamage(error) ? new UnusableFile('damaged', error) : error;
  }
}

/**
 * Locks a file beside this one until it is closed or the process ends, so that no two processes use the same cache. In WAL mode SQLite
 * would allow that.
 */
async function lockFor(path: string, engine: Engine): Promise<Connection> {
  const file = `${path}-lock`;
  await createLockFile(file);
  try {
    return await hold(file, engine);
  } catch (error) {
    if (!isDamage(error) && !hasCode(error, 'SQLITE_NOTADB')) throw error;
    // A file locked by another process fails with SQLITE_BUSY before it is read, so nobody holds this damaged one.
    await rm(file, { force: true });
    await createLockFile(file);
    return await hold(file, engine);
  }
}

async function hold(file: string, engine: Engine): Promise<Connection> {
  const lock = await connect(engine, file);
  try {
    await lock.execute('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    await lock.close();
    if (!hasCode(error, 'SQLITE_BUSY')) throw error;
    const inUse = new Error(
      'another process uses this file; set a different -disk-cache-path for each process',
      {
        cause: error,
      },
    );
    throw Object.assign(inUse, { code: error.code });
  }
}

/**
 * Creates the lock file unless it exists. An existing one must not be opened: closing it again would release the locks that this process
 * holds on it.
 */
async function createLockFile(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

async function connect(engine: Engine, path: string, beside?: Connection): Promise<Connection> {
  const connection = await engine.connect(path, beside);
  await connection.execute(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  return connection;
}

async function prepare(writer: Connection): Promise<void> {
  await checkOwner(writer);
  // This must precede the first table to have an effect.
  await writer.execute('PRAGMA auto_vacuum = INCREMENTAL');
  await writer.execute(`PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = ${journalBytes}`);
  await writer.execute('PRAGMA synchronous = NORMAL');
  if ((await numberOf(writer, 'SELECT count(*) AS value FROM sqlite_master')) === 0)
    await writer.execute(tables);
  // SQLite opens a write-protected file for reading, and reports it only at the first write.
  else await writer.execute(`PRAGMA user_version = ${formatVersion}`);
  await numberOf(writer, 'SELECT count(*) AS value FROM answers');
}

async function checkOwner(writer: Connection): Promise<void> {
  const owner = await headerOf(writer, 'application_id');
  const version = await headerOf(writer, 'user_version');
  const isEmpty = (await numberOf(writer, 'SELECT count(*) AS value FROM sqlite_master')) === 0;
  if (owner !== applicationId && !(isEmpty && owner === 0 && version === 0))
    throw new UnusableFile('foreign');
  if (!isEmpty && version !== formatVersion) throw new UnusableFile('other version');
}

async function headerOf(writer: Connection, name: 'application_id' | 'user_version'): Promise<number> {
  try {
    return await numberOf(writer, `SELECT ${name} AS value FROM pragma_${name}`);
  } catch (error) {
    // The file is not a database.
    if (hasCode(error, 'SQLITE_NOTADB')) throw new UnusableFile('foreign', error);
    throw error;
  }
}

class DiskFile {
  constructor(
    private readonly writer: Connection,
    private readonly reader: Connection,
    private readonly lock: Connection,
  ) {}

  async read(key: string): Promise<DiskRow | undefined> {
    const [row] = await this.reader.all<DiskRow>(
      'SELECT key, value, written AS writtenMs, expires AS expiresMs, seal FROM answers WHERE key = ?',
      [key],
    );
    return row;
  }

  /** Resolves to the number of replaced rows. */
  async write(rows: readonly DiskRow[]): Promise<number> {
    const marks = rows.map(() => '?').join(', ');
    const replaced = await this.writer.run(
      `DELETE FROM answers WHERE key IN (${marks})`,
      rows.map(({ key }) => key),
    );
    await this.writer.run(
      `INSERT INTO answers (key, written, expires, bytes, seal, value) VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
      rows.flatMap(({ key, writtenMs, expiresMs, seal, value }) => [
        key,
        writtenMs,
        expiresMs,
        value.byteLength,
        seal,
        value,
      ]),
    );
    return replaced;
  }

  remove(key: string): Promise<number> {
    return this.writer.run('DELETE FROM answers WHERE key = ?', [key]);
  }

  /** Drops at most `limit` answers whose keys begin with the prefix. */
  removeBeginning(prefix: string, limit: number): Promise<number> {
    return this.writer.run(
      'DELETE FROM answers WHERE id IN (SELECT id FROM answers WHERE key >= ? AND key < ? LIMIT ?)',
      [prefix, behind(prefix), limit],
    );
  }

  /** Drops at most `limit` answers that expired before this time. */
  dropExpired(beforeMs: number, limit: number): Promise<number> {
    return this.writer.run(
      'DELETE FROM answers WHERE id IN (SELECT id FROM answers WHERE expires <= ? LIMIT ?)',
      [beforeMs, limit],
    );
  }

  /** Drops the oldest answers, at most `limit`, until `bytes` are free. */
  async dropOldest(bytes: number, limit: number): Promise<number> {
    const oldest = await this.writer.all<{ readonly id: number; readonly bytes: number }>(
      'SELECT id, bytes FROM answers ORDER BY id LIMIT ?',
      [limit],
    );
    let freed = 0;
    let last = 0;
    for (const row of oldest) {
      if (freed >= bytes) break;
      freed += row.bytes;
      last = row.id;
    }
    return this.writer.run('DELETE FROM answers WHERE id <= ?', [last]);
  }

  count(): Promise<number> {
    return numberOf(this.writer, 'SELECT count(*) AS value FROM answers');
  }

  async size(): Promise<DiskSize> {
    const [size] = await this.writer.all<DiskSize>(
      'SELECT page_count AS pages, freelist_count AS freePages, page_size AS pageBytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
      [],
    );
    return size ?? { pages: 0, freePages: 0, pageBytes: 4096 };
  }

  /** Returns unused pages at the end of the file to the system, at most this many. */
  shrink(pages: number): Promise<void> {
    return this.writer.execute(`PRAGMA incremental_vacuum(${pages})`);
  }

  async close(): Promise<void> {
    await this.reader.close();
    await this.writer.close();
    await this.lock.close();
  }
}

/** The smallest text after all texts with this prefix. */
function behind(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

async function numberOf(connection: Connection, sql: string): Promise<number> {
  const [row] = await connection.all<{ readonly value: number }>(sql, []);
  return row?.value ?? 0;
}

/** The database, its journal and the journal's index. */
const parts = ['', '-wal', '-shm'];

export async function moveDatabase(path: string, to: string): Promise<void> {
  await removeDatabase(to);
  for (const part of parts) {
    try {
      await rename(path + part, to + part);
    } catch (error) {
      // A closed database has no journal.
      if (!isMissing(error)) throw error;
    }
  }
}

export async function removeDatabase(path: string): Promise<void> {
  for (const part of parts) await rm(path + part, { force: true });
}

/**
 * Rows must be verified: bits on disk may flip, and SQLite has no checksums. A value is a gzip stream, whose trailer contains the CRC and
 * the length of its contents and is checked on reading. The seal binds the trailer to the key and the times of the row.
 */
const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** CRC and length at the end of a gzip stream. */
const trailerBytes = 8;

/** Packs a value into a row, in another thread. Without compression, the gzip stream is only a frame. */
export async function sealed(
  row: Omit<DiskRow, 'value' | 'seal'>,
  packed: Buffer,
  isCompressed: boolean,
): Promise<DiskRow> {
  const level = isCompressed ? constants.Z_BEST_SPEED : constants.Z_NO_COMPRESSION;
  const value = await compress(packed, { level, chunkSize: chunkFor(packed.byteLength) });
  return { ...row, value, seal: sealOf(row, value) };
}

/** The value of a row with this key; undefined if it is not what was written. */
export async function unsealed(key: string, row: DiskRow, largest: number): Promise<Buffer | undefined> {
  const { value, seal, writtenMs, expiresMs } = row;
  const isSealed = Buffer.isBuffer(value) && Buffer.isBuffer(seal) && value.byteLength > trailerBytes;
  if (!isSealed || !seal.equals(sealOf({ key, writtenMs, expiresMs }, value))) return undefined;
  const length = value.readUInt32LE(value.byteLength - 4);
  if (length > largest) return undefined;
  try {
    return await decompress(value, { chunkSize: chunkFor(length), maxOutputLength: Math.max(1, length) });
  } catch {
    return undefined;
  }
}

/** One chunk for the whole value: with the default of 16 KiB a large value would need hundreds of turns of the event loop. */
function chunkFor(bytes: number): number {
  return Math.max(1024, Math.min(bytes + 64, 4 * 1024 * 1024));
}

function sealOf({ key, writtenMs, expiresMs }: Omit<DiskRow, 'value' | 'seal'>, value: Buffer): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([key, writtenMs, expiresMs, value.byteLength]))
    .update(value.subarray(-trailerBytes))
    .digest();
}
