import { crc32 } from 'node:zlib';
import { Pacer } from '../pace/steps.js';
import {
  parseSnapshot,
  snapshotEnd,
  snapshotText,
  type AddEntry,
  type OtherMembers,
  type Reading,
  type SnapshotFormat,
  type WrittenEntry,
} from './snapshot-json.js';

/** Upper bounds for the bytes around all entries, and for the separators of one entry. */
const [frameBytes, besideBytes] = [256, 16];
/** Bytes written or read in one step. */
export const pieceBytes = 64 * 1024;

/** Metadata of a snapshot that was read. */
export interface SnapshotRead {
  /** Unix milliseconds. */
  readonly savedAtMs: number;
  readonly bytes: number;
}

/**
 * A snapshot in memory, in the format of a file: as many entries as fit, in their order. Entries with the same first name are included all
 * or none. Undefined if none fits.
 */
export async function snapshotBytes(
  format: SnapshotFormat,
  { savedAtMs, largest, others }: { savedAtMs: number; largest: number; others?: OtherMembers },
  entries: Iterable<WrittenEntry>,
): Promise<Buffer | undefined> {
  const pacer = new Pacer();
  const groups: WrittenEntry[][] = [];
  let room = largest - frameBytes - Buffer.byteLength(JSON.stringify(others ?? {}));
  let group: WrittenEntry[] = [];
  let [name, bytes]: [string | undefined, number] = [undefined, 0];
  const close = (): void => {
    if (group.length > 0 && bytes <= room) {
      groups.push(group);
      room -= bytes;
    }
    group = [];
    bytes = 0;
  };
  for (const entry of entries) {
    const [first] = entry.names;
    if (first !== name) close();
    name = first;
    bytes += sizeOf(entry);
    if (bytes <= room) group.push(entry);
    else group = [];
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  close();
  if (groups.length === 0) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of snapshotPieces(format, savedAtMs, groups.flat(), others)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The bytes of a whole snapshot, produced in steps. */
export async function* snapshotPieces(
  format: SnapshotFormat,
  savedAtMs: number,
  entries: Iterable<WrittenEntry>,
  others: OtherMembers = {},
): AsyncGenerator<Buffer, void, void> {
  const pacer = new Pacer();
  let [waiting, checksum] = ['', 0];
  for (const text of snapshotText(format, savedAtMs, entries, others)) {
    waiting += text;
    if (waiting.length >= pieceBytes) {
      const piece = Buffer.from(waiting);
      waiting = '';
      checksum = crc32(piece, checksum);
      yield piece;
    }
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  const last = Buffer.from(waiting);
  yield last;
  yield Buffer.from(snapshotEnd(crc32(last, checksum)));
}

/**
 * Reads such a snapshot. Entries given to `add` are valid only once the promise has resolved.
 * @throws UnusableSnapshot
 */
export async function readSnapshotBytes(
  format: SnapshotFormat,
  bytes: Buffer,
  add: AddEntry,
  signal: AbortSignal,
  reading?: Reading,
): Promise<void> {
  await readPieces(format, (at) => bytes.subarray(at, at + pieceBytes), add, signal, reading);
}

/**
 * Reads a snapshot that arrives in pieces; an empty one is its end. As `readSnapshotBytes`.
 * @param pieceAt returns the bytes from an offset, at most `pieceBytes`
 */
export async function readPieces(
  format: SnapshotFormat,
  pieceAt: (at: number) => Buffer | Promise<Buffer>,
  add: AddEntry,
  signal: AbortSignal | undefined,
  { others, settle }: Reading = {},
): Promise<SnapshotRead> {
  const pacer = new Pacer(signal);
  const parsing = parseSnapshot(format, add, others);
  parsing.next();
  for (let bytes = 0; ;) {
    signal?.throwIfAborted();
    const piece = await pieceAt(bytes);
    bytes += piece.length;
    const { done, value } = parsing.next(piece);
    if (done === true) return { savedAtMs: value, bytes };
    await settle?.();
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
}

function sizeOf({ names, json }: WrittenEntry): number {
  return (
    names.reduce((sum, name) => sum + Buffer.byteLength(JSON.stringify(name)), 0) +
    Buffer.byteLength(json) +
    besideBytes
  );
}
