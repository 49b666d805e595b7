/**
 * Counts the source files of core and plugins that a request runs through: files in which a function runs, in a process with the default
 * pipeline that has already answered two requests of the same kind. `node dist/test/house/files-passed.js` prints the counts; `--list` adds
 * the files, grouped by folder.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../bench/program.js';
import { fillHouse, houseFlags, orgId, requestKinds, type RequestKind } from './request-kinds.js';

const main = fileURLToPath(new URL('../../core/program/main.js', import.meta.url));
const meter = new URL('files-meter.js', import.meta.url).href;

const before = 2;
/** Several samples, to exclude code that runs at the same time as some requests, such as idle work. */
const samples = 15;
const restMs = 50;
const mostRests = 100;

/** The name of the request that the proxy answers from its response cache. */
export const repeatedName = 'the very same bytes again';
/** The limits of issue 44 for requests that the response cache does not answer. */
export const aims = { metric: 150, log: 120 };

/** The files that a request of each kind runs through. */
export async function filesPassed(): Promise<ReadonlyMap<string, readonly string[]>> {
  const backend = await startProgram(['backend', '-listen=127.0.0.1:0']);
  try {
    await fillHouse(backend.url);
    const program = await MeteredProgram.start(backend.url);
    try {
      const passed = new Map<string, readonly string[]>();
      for (const kind of requestKinds) passed.set(kind.name, await program.filesOf(kind.path));
      const [first] = requestKinds;
      passed.set(repeatedName, await program.filesOf(() => first?.path(0) ?? ''));
      return passed;
    } finally {
      await program.stop();
    }
  } finally {
    await backend.stop();
  }
}

/** A proxy that reports which of its files have run. */
class MeteredProgram {
  readonly #child: ChildProcess;
  readonly #lines: Lines;
  readonly #url: string;

  private constructor(child: ChildProcess, lines: Lines, url: string) {
    this.#child = child;
    this.#lines = lines;
    this.#url = url;
  }

  static async start(backendUrl: string): Promise<MeteredProgram> {
    const args = [
      'serve',
      '-listen=127.0.0.1:0',
      '-admin-listen=127.0.0.1:0',
      `-backend=${backendUrl}`,
      ...Object.entries(houseFlags).map(([name, value]) => `-${name}=${value}`),
    ];
    const child = fork(main, args, {
      execArgv: ['--import', meter],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const ended = once(child, 'exit').then(() => {
      throw new Error('the program ended before it listened');
    });
    const lines = new Lines(child);
    const [, url = ''] = await Promise.race([lines.next(/"main":"(http[^"]+)"/), ended]);
    ended.catch(() => undefined);
    return new MeteredProgram(child, lines, url);
  }

  /** The files that each of several requests runs through, after earlier requests of the kind. */
  async filesOf(path: RequestKind['path']): Promise<readonly string[]> {
    let number = 0;
    const next = (): Promise<void> => this.#ask(path(number++));
    for (let earlier = 0; earlier < before; earlier += 1) await next();
    let common: readonly string[] | undefined;
    for (let sample = 0; sample < samples; sample += 1) {
      await this.#rest();
      await next();
      const files = new Set(await this.#take());
      common = (common ?? [...files]).filter((file) => files.has(file));
    }
    return common ?? [];
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }

  /** Waits until the background work of a request is done. */
  async #rest(): Promise<void> {
    for (let rest = 0; rest < mostRests; rest += 1) {
      await this.#take();
      await sleep(restMs);
      if ((await this.#take()).length === 0) return;
    }
    throw new Error('the program does not come to rest');
  }

  async #take(): Promise<readonly string[]> {
    const told = once(this.#child, 'message');
    this.#child.send('take');
    const [files] = (await told) as [readonly string[]];
    return files;
  }

  /** Waits for the request's log line, which is written after the answer. */
  async #ask(path: string): Promise<void> {
    const logged = this.#lines.next(/"body":"request"/);
    const answer = await fetch(this.#url + path, { headers: orgId });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${text}`);
    await logged;
  }
}

class Lines {
  readonly #lines: Interface;

  constructor(child: ChildProcess) {
    if (child.stdout === null) throw new Error('the program has no output');
    this.#lines = createInterface({ input: child.stdout });
  }

  /** The first matching line from now on. */
  next(wanted: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve) => {
      const look = (line: string): void => {
        const found = wanted.exec(line);
        if (found === null) return;
        this.#lines.off('line', look);
        resolve(found);
      };
      this.#lines.on('line', look);
    });
  }
}

/** Folders, with the number of files in each. */
function byFolder(files: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return [...counts].map(([folder, count]) => `  ${String(count).padStart(4)}  ${folder}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const passed = await filesPassed();
  for (const [name, files] of passed) {
    const kind = requestKinds.find((known) => known.name === name);
    const aim = kind === undefined ? '' : `, aim ${kind.isMetric ? aims.metric : aims.log}`;
    console.log(`${name}: ${files.length} files${aim}`);
    if (process.argv.includes('--list')) console.log(byFolder(files).join('\n'));
  }
}
