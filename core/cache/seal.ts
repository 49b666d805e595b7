/**
 * Values as they lie on disk, where bits may flip and SQLite has no checksums. A value is a gzip stream, which ends with the CRC and the
 * length of what is in it and is checked when it is read; the seal binds that end to the key and the times of the row.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { DiskRow } from './disk-file.js';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** CRC and length at the end of a gzip stream. */
const trailerBytes = 8;

/** Packs a value into a row, in another thread. Without compression the stream is only a frame. */
export async function sealed(
  row: Omit<DiskRow, 'value' | 'seal'>,
  packed: Buffer,
  isCompressed: boolean,
): Promise<DiskRow> {
  const level = isCompressed ? constants.Z_BEST_SPEED : constants.Z_NO_COMPRESSION;
  const value = await compress(packed, { level, chunkSize: chunkFor(packed.byteLength) });
  return { ...row, value, seal: sealOf(row, value) };
}

/** The value of a row for this key; undefined when it is not what was written. */
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

/** All at once: with the default of 16 KiB a large value would need hundreds of turns. */
function chunkFor(bytes: number): number {
  return Math.max(1024, Math.min(bytes + 64, 4 * 1024 * 1024));
}

function sealOf({ key, writtenMs, expiresMs }: Omit<DiskRow, 'value' | 'seal'>, value: Buffer): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([key, writtenMs, expiresMs, value.byteLength]))
    .update(value.subarray(-trailerBytes))
    .digest();
}
