import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../clock.js';
import { describeSystemError, isMissing } from '../errors/system-error.js';
import type { Logger } from '../logger.js';
import { pieceBytes, readPieces, snapshotPieces, type SnapshotRead } from './snapshot-bytes.js';
import {
  UnusableSnapshot,
  type AddEntry,
  type OtherMembers,
  type Reading,
  type SnapshotFormat,
  type WrittenEntry,
} from './snapshot-json.js';

export interface SnapshotFileSettings {
  /** The option that names the file, as in errors: `-patterns-persist-path`. */
  readonly flag: string;
  readonly path: string;
  readonly format: SnapshotFormat;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Logger;
}

/**
 * A snapshot of a process's data in one JSON file, written and read in steps. The file is replaced atomically, so that readers always find
 * a complete one, even after a crash. An unusable file is moved aside, never overwritten.
 */
export class SnapshotFile {
  readonly #settings: SnapshotFileSettings;

  constructor(settings: SnapshotFileSettings) {
    this.#settings = settings;
  }

  /**
   * Checks that the file can be written, and removes temporary files of writers that crashed.
   * @throws Error naming the option
   */
  async open(): Promise<void> {
    const { flag, path } = this.#settings;
    try {
      const known = await statOf(path);
      if (known?.isFile() === false) throw new Error('it is not a regular file');
      if (known !== undefined) await (await open(path, 'r+')).close();
      if ((await statOf(dirname(path))) === undefined) throw new Error('its directory does not exist');
      await this.#clear();
      const temporary = this.#temporary();
      await (await open(temporary, 'wx', 0o600)).close();
      await rm(temporary);
    } catch (error) {
      if (isFullDisk(error)) return;
      throw new Error(`${flag}: cannot write ${path}: ${describeSystemError(error)}`, { cause: error });
    }
  }

  /**
   * Reads the file. Entries given to `add` are valid only if the promise resolves to a value; undefined means that there is no file, or
   * that it could not be used, which is logged.
   */
  async read(add: AddEntry, signal?: AbortSignal, reading?: Reading): Promise<SnapshotRead | undefined> {
    const { path, format, log } = this.#settings;
    let file: FileHandle | undefined;
    try {
      const opened = (file = await open(path, 'r'));
      const pieceAt = async (at: number): Promise<Buffer> => {
        // A new buffer each time: an entry may span several of them.
        const { buffer, bytesRead } = await opened.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, at);
        return buffer.subarray(0, bytesRead);
      };
      return await readPieces(format, pieceAt, add, signal, reading);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof UnusableSnapshot) await this.#putAside(error);
      else if (!isMissing(error)) log.warn('cannot read the snapshot', { 'file.path': path, error });
      return undefined;
    } finally {
      await file?.close();
    }
  }

  /** Replaces the file; resolves to its size. On failure the old file stays. */
  async write(entries: Iterable<WrittenEntry>, others: OtherMembers = {}): Promise<number> {
    const { path } = this.#settings;
    const temporary = this.#temporary();
    try {
      const file = await open(temporary, 'wx', 0o600);
      let bytes: number;
      try {
        bytes = await this.#print(file, entries, others);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      await syncFolder(dirname(path));
      return bytes;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Removes the file, for example because its contents have been purged. */
  async remove(): Promise<void> {
    await rm(this.#settings.path, { force: true });
  }

  async #clear(): Promise<void> {
    const folder = dirname(this.#settings.path);
    for (const name of await readdir(folder))
      if (this.#isTemporary(name)) await rm(join(folder, name), { force: true });
  }

  async #print(file: FileHandle, entries: Iterable<WrittenEntry>, others: OtherMembers): Promise<number> {
    const { format, clock } = this.#settings;
    let bytes = 0;
    for await (const piece of snapshotPieces(format, clock.nowMs(), entries, others)) {
      bytes += piece.length;
      await file.writeFile(piece);
    }
    return bytes;
  }

  async #putAside(error: UnusableSnapshot): Promise<void> {
    const { path, log, clock } = this.#settings;
    // Files of other programs, or of a newer version that may come back, are all kept; of our own damaged files the latest one is enough.
    const to =
      path +
      (error.defect === 'damaged' ? '.unusable' : `.${error.defect.replace(' ', '-')}-${clock.nowMs()}`);
    const fields = { 'file.path': path, 'file.moved_to': to, reason: error.defect };
    try {
      await rename(path, to);
      log.warn('snapshot moved aside, starting with an empty one', { ...fields, error: error.cause });
    } catch (failure) {
      log.warn('cannot use the snapshot or move it aside', { ...fields, error: failure });
    }
  }

  /** A random name, so that two processes with the same path do not write to the same temporary file. */
  #temporary(): string {
    return `${this.#settings.path}.${randomBytes(4).toString('hex')}.tmp`;
  }

  #isTemporary(name: string): boolean {
    const own = basename(this.#settings.path);
    return name.startsWith(`${own}.`) && /^\.[0-9a-f]{8}\.tmp$/.test(name.slice(own.length));
  }
}

async function statOf(path: string): Promise<Awaited<ReturnType<typeof stat>> | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** A full disk is a temporary failure: the path itself is usable. */
function isFullDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** Makes the rename durable, on file systems that support it. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch {
    // The file itself has been written.
  }
}
