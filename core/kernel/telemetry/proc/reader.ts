import { constants } from 'node:fs';
import { open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../../base/logger.js';
import type { TelemetryOptions } from '../../../base/options.gen.js';
import { withinBound } from '../../bounded.js';
import * as files from './files.js';

/** Maximum number of bytes read of a file; the longest file, of network interfaces, has some 130 bytes for each. */
const maxFileBytes = 256 * 1024;
/** Timeout for reading all files; a scrape then continues without the figures. */
const timeoutMs = 1_000;
/** Minimum number of ticks for ratios of processor time: a second of one processor. Scrapes in quick succession share a ratio. */
const minTicks = 100;

export const resources = ['cpu', 'memory', 'io'] as const;

/** The figures found by one reading; missing ones are not available on this system. */
export interface Seen {
  readonly openFiles?: number | undefined;
  /** Limit of open file descriptors. */
  readonly maxOpenFiles?: number | undefined;
  readonly io?: ReturnType<typeof files.readIo>;
  readonly network?: ReturnType<typeof files.readNetwork>;
  readonly memory?: ReturnType<typeof files.readMemory>;
  /** Shares of processor time between two readings. */
  readonly cpu?: Readonly<Record<'user' | 'system' | 'iowait', number>> | undefined;
  readonly pressure: Readonly<Partial<Record<(typeof resources)[number], readonly files.Pressure[]>>>;
}

interface Failure {
  readonly flag: '-proc-root' | '-host-proc-root';
  readonly root: string;
  readonly file: string;
  readonly why: string;
}

/**
 * Reads the proc folders (`-proc-root`, `-host-proc-root`): one for this process and its network namespace, the other for the machine.
 * Files are read one after another, so that a hanging one blocks at most one thread of the pool.
 */
export class ProcReader {
  readonly #own: string;
  readonly #host: string;
  readonly #hostFlag: Failure['flag'];
  #seen: Seen = { pressure: {} };
  #failures: Failure[] = [];
  #reading: Promise<void> | undefined;
  #before: files.CpuTimes | undefined;

  constructor({ procRoot, hostProcRoot }: Pick<TelemetryOptions, 'procRoot' | 'hostProcRoot'>) {
    this.#own = procRoot;
    this.#host = hostProcRoot ?? procRoot;
    this.#hostFlag = hostProcRoot === undefined ? '-proc-root' : '-host-proc-root';
  }

  /** The figures of the last reading. */
  get seen(): Seen {
    return this.#seen;
  }

  /** Reads all files again; concurrent callers share one reading. */
  async read(): Promise<void> {
    const reading = (this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined)));
    try {
      await withinBound(timeoutMs, () => reading);
    } catch {
      this.#seen = { pressure: {} };
    }
  }

  /** Makes the first reading, from which ratios are computed, and reports unreadable files. Pressure is optional: kernels may lack it. */
  async start(log: Logger): Promise<void> {
    await this.read();
    for (const flag of ['-proc-root', '-host-proc-root'] as const) {
      const [first, ...others] = this.#failures.filter((failure) => failure.flag === flag);
      if (first === undefined || (first.root === '/proc' && process.platform !== 'linux')) continue;
      log.warn(`system metrics are missing: cannot read ${flag}`, {
        'proc.root': first.root,
        'proc.files': [first, ...others].map(({ file }) => file),
        'error.message': first.why,
      });
    }
  }

  async #readAll(): Promise<void> {
    this.#failures = [];
    const pressure: { [resource: string]: readonly files.Pressure[] } = {};
    const own = { flag: '-proc-root', root: this.#own } as const;
    const host = { flag: this.#hostFlag, root: this.#host } as const;
    const openFiles = await this.#attempt(own, 'self/fd', countEntries);
    const maxOpenFiles = await this.#attempt(own, 'self/limits', parsed(files.readMaxOpenFiles));
    const io = await this.#attempt(own, 'self/io', parsed(files.readIo));
    const network = await this.#attempt(own, 'self/net/dev', parsed(files.readNetwork));
    const memory = await this.#attempt(host, 'meminfo', parsed(files.readMemory));
    const times = await this.#attempt(host, 'stat', parsed(files.readCpuTimes));
    for (const resource of resources) {
      const found = await parsed(files.readPressure)(join(this.#host, 'pressure', resource)).catch(
        () => undefined,
      );
      if (found !== undefined) pressure[resource] = found;
    }
    this.#seen = { openFiles, maxOpenFiles, io, network, memory, cpu: this.#ratios(times), pressure };
  }

  #ratios(now: files.CpuTimes | undefined): Seen['cpu'] {
    const before = this.#before;
    if (now === undefined) return undefined;
    const ticks = now.total - (before?.total ?? now.total);
    if (before !== undefined && ticks >= 0 && ticks < minTicks) return this.#seen.cpu;
    this.#before = now;
    // The times may decrease on a machine that was suspended and resumed elsewhere.
    if (before === undefined || ticks < 0) return undefined;
    const ratioOf = (mode: 'user' | 'system' | 'iowait'): number =>
      Math.max(0, now[mode] - before[mode]) / ticks;
    return { user: ratioOf('user'), system: ratioOf('system'), iowait: ratioOf('iowait') };
  }

  async #attempt<Value>(
    place: Pick<Failure, 'flag' | 'root'>,
    file: string,
    read: (path: string) => Promise<Value>,
  ): Promise<Value | undefined> {
    try {
      return await read(join(place.root, file));
    } catch (error) {
      this.#failures.push({ ...place, file, why: error instanceof Error ? error.message : 'unknown error' });
      return undefined;
    }
  }
}

/** Creates a reader of a file with this parser; it throws if the file has another format. */
function parsed<Value>(parse: (text: string) => Value | undefined): (path: string) => Promise<Value> {
  return async (path) => {
    const value = parse(await beginningOf(path));
    if (value === undefined) throw new Error(`${path} does not have the format of a kernel proc file`);
    return value;
  };
}

async function beginningOf(path: string): Promise<string> {
  // Non-blocking, because the path could be a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.allocUnsafe(maxFileBytes);
    let length = 0;
    for (;;) {
      // The kernel returns files of a proc folder in pieces of a page.
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) return buffer.toString('latin1', 0, length);
    }
  } finally {
    await file.close();
  }
}

async function countEntries(path: string): Promise<number> {
  let count = 0;
  for await (const entry of await opendir(path)) if (entry.name !== '') count += 1;
  return count;
}
