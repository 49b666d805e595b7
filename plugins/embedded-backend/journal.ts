import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

import { parseDeleteFilter } from './engine/language.js';
import { removeMatchingRows } from './engine/delete-rows.js';
import { makeTags, type TenantId } from './store/stream-tags.js';
import type { Store } from './store/store.js';
import type { Stream } from './store/stream.js';

const FILE = 'rows.jsonl';

/**
 * One line of the journal: a stream with its number, a row of such a stream, or a deletion. Numbers are valid within one run of the server,
 * so a later line may reuse a number for another stream.
 */
type Entry =
  | readonly ['s', number, number, number, readonly (readonly [string, string])[]]
  | readonly ['r', number, string, readonly string[], readonly string[]]
  | readonly ['d', number, number, string, string];

/**
 * Persists rows in an append-only file, in a folder used by one backend at a time. Each push is written before it is answered; a deletion
 * is written as an entry and repeated on the next start.
 */
export class Journal {
  readonly #file: FileHandle;
  readonly #numbers = new Map<Stream, number>();
  /** Entries that are not written yet, bounded by the store's limit. */
  #lines: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  #bytes: number;

  private constructor(file: FileHandle, bytes: number) {
    this.#file = file;
    this.#bytes = bytes;
  }

  /** Loads the folder's content into the store and opens the file for appending. Rejects if it is unusable. */
  static async open(folder: string, store: Store): Promise<Journal> {
    await makeFolder(folder);
    const path = join(folder, FILE);
    const file = await open(path, 'a+');
    await replay(path, store);
    return new Journal(file, (await file.stat()).size);
  }

  /** Records a row that the store has accepted. */
  addRow(
    tenant: TenantId,
    stream: Stream,
    timeNs: bigint,
    names: readonly string[],
    values: readonly string[],
  ): void {
    let number = this.#numbers.get(stream);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(stream, number);
      this.#note(['s', number, tenant.accountId, tenant.projectId, [...stream.tags]]);
    }
    this.#note(['r', number, timeNs.toString(), names, values]);
  }

  /** Records a deletion: its filter as text, and the time to which its relative times refer. */
  addDeletion(tenant: TenantId, filter: string, evalNs: bigint): void {
    this.#note(['d', tenant.accountId, tenant.projectId, filter, evalNs.toString()]);
  }

  /**
   * Resolves when all recorded entries are in the file; rejects if writing fails, for example on a full disk. The rows then stay in the
   * store and in the buffer, and the next commit writes them too.
   */
  commit(): Promise<void> {
    const write = (): Promise<void> => this.#write();
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }

  /** Writes the rest and closes the file. */
  async close(): Promise<void> {
    try {
      await this.commit();
    } finally {
      await this.#file.close();
    }
  }

  async #write(): Promise<void> {
    const lines = this.#lines;
    if (lines.length === 0) return;
    this.#lines = [];
    // The leading line feed separates this from a line that a crash may have cut short.
    const text = Buffer.from(`\n${lines.join('\n')}\n`);
    try {
      await this.#file.appendFile(text);
      this.#bytes += text.length;
    } catch (error) {
      this.#lines = [...lines, ...this.#lines];
      // Everything will be written again. If a partly written file cannot be truncated, some rows are in it twice.
      await this.#file.truncate(this.#bytes).catch(() => undefined);
      throw error;
    }
  }

  #note(entry: Entry): void {
    this.#lines.push(JSON.stringify(entry));
  }
}

/** Creates a folder and its parents. Does not use mkdir's `recursive`, which retries forever if no folder can be created, as in /proc. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return;
    const parent = dirname(folder);
    if (code !== 'ENOENT' || parent === folder) throw error;
    await makeFolder(parent);
    await mkdir(folder).catch((cause: unknown) => {
      throw new Error(`cannot create a directory in ${parent}`, { cause });
    });
  }
}

async function replay(path: string, store: Store): Promise<void> {
  const streams = new Map<number, Stream>();
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  for await (const line of lines) {
    const entry = parseEntry(line);
    if (entry === undefined) continue;
    switch (entry[0]) {
      case 's': {
        const [, number, accountId, projectId, tags] = entry;
        streams.set(number, store.stream({ accountId, projectId }, makeTags(tags)));
        break;
      }
      case 'r': {
        const [, number, time, names, values] = entry;
        const stream = streams.get(number);
        if (stream !== undefined) store.push(stream, { timeNs: BigInt(time), names, values });
        break;
      }
      case 'd': {
        const [, accountId, projectId, filter, evalNs] = entry;
        const never = new AbortController().signal;
        await removeMatchingRows(
          store,
          { accountId, projectId },
          parseDeleteFilter(filter),
          BigInt(evalNs),
          never,
        );
        break;
      }
    }
  }
}

/** Parses an entry; undefined for an empty line or one cut short by a crash. */
function parseEntry(line: string): Entry | undefined {
  if (line === '') return undefined;
  try {
    const entry: unknown = JSON.parse(line);
    // Only this class writes the file, so a line of complete JSON is a complete entry.
    return Array.isArray(entry) ? (entry as unknown as Entry) : undefined;
  } catch {
    return undefined;
  }
}
