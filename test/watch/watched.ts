import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Measures, MeterAnswer, MeterQuestion } from './measures.js';

const main = fileURLToPath(new URL('../../core/program/main.js', import.meta.url));
const meter = new URL('./turn-meter.js', import.meta.url).href;

/** How a program is started. */
export interface WatchSettings {
  /** Options of Node.js, such as `--max-old-space-size=200`. */
  readonly node?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Longest wait for an answer of the meter: a program that is busy for longer is taken for hung. */
  readonly patienceMs?: number;
}

/** How a program ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last of what it wrote to stderr. */
  readonly lastWords: string;
}

const maxWords = 4_000;

/** A command of the program in a process of its own, with a meter in it. */
export class Watched {
  readonly url: string;
  /** Where the routes for administrators are; the same as `url` where the program has none of its own for them. */
  readonly adminUrl: string;
  readonly pid: number;
  /** Log records of level ERROR and above, as they were written. */
  readonly complaints: readonly string[];
  readonly #child: ChildProcess;
  readonly #patienceMs: number;
  readonly #waiting = new Map<number, (measures: Measures) => void>();
  readonly #ended: Promise<Ending>;
  #ending: Ending | undefined;
  #questions = 0;

  private constructor(child: ChildProcess, { url, adminUrl }: Addresses, output: Output, patienceMs: number) {
    this.#child = child;
    this.url = url;
    this.adminUrl = adminUrl;
    this.pid = child.pid ?? 0;
    this.complaints = output.complaints;
    this.#patienceMs = patienceMs;
    child.on('message', (answer: MeterAnswer) => {
      this.#waiting.get(answer.id)?.(answer.measures);
      this.#waiting.delete(answer.id);
    });
    this.#ended = once(child, 'exit').then(([code, signal]: (number | NodeJS.Signals | null)[]) => {
      this.#ending = {
        code: typeof code === 'number' ? code : null,
        signal: typeof signal === 'string' ? signal : null,
        lastWords: output.lastWords(),
      };
      return this.#ending;
    });
  }

  /** Starts a command and waits until it tells its address. */
  static async start(args: readonly string[], settings: WatchSettings = {}): Promise<Watched> {
    const child = spawn(
      process.execPath,
      ['--expose-gc', '--import', meter, ...(settings.node ?? []), main, ...args],
      { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...settings.env } },
    );
    const output = new Output(child);
    const addresses = await output.addresses;
    return new Watched(child, addresses, output, settings.patienceMs ?? 60_000);
  }

  /** How it ended, if it has. */
  get ending(): Ending | undefined {
    return this.#ending;
  }

  async measure(question: Omit<MeterQuestion, 'id'>): Promise<Measures> {
    const id = (this.#questions += 1);
    const answer = new Promise<Measures>((resolve) => this.#waiting.set(id, resolve));
    const dead = this.#ended.then(({ code, signal, lastWords }) => {
      throw new Error(`the program ended with ${code ?? signal ?? 'nothing'}: ${lastWords}`);
    });
    if (this.#ending === undefined) this.#child.send({ id, ...question });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`the program did not answer for ${this.#patienceMs} ms`));
      }, this.#patienceMs);
    });
    try {
      return await Promise.race([answer, dead, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Empties the caches, which are bounded and fill up in any run. */
  async flush(): Promise<void> {
    const { status } = await fetch(`${this.adminUrl}/admin/cache/flush`, { method: 'POST' });
    if (status !== 200) throw new Error(`the caches were not emptied: ${status}`);
  }

  async stop(): Promise<Ending> {
    if (this.#ending === undefined) this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 30_000);
    const ending = await this.#ended;
    clearTimeout(timer);
    return ending;
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

interface Addresses {
  readonly url: string;
  readonly adminUrl: string;
}

/** Reads what a program writes: its address, what it complains of, its last words. */
class Output {
  readonly addresses: Promise<Addresses>;
  readonly complaints: string[] = [];
  #words = '';

  constructor(child: ChildProcess) {
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('the program has no output');
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#words = (this.#words + text).slice(-maxWords);
    });
    this.addresses = new Promise((resolve, reject) => {
      createInterface({ input: stdout }).on('line', (line) => {
        const found = /"main":"(http[^"]+)"|backend on (http\S+)/.exec(line);
        const url = found?.[1] ?? found?.[2];
        const adminUrl = /"admin":"(http[^"]+)"/.exec(line)?.[1];
        if (url !== undefined) resolve({ url, adminUrl: adminUrl ?? url });
        if (/"level":[56]\d/.test(line) && this.complaints.length < 1_000) this.complaints.push(line);
      });
      child.once('exit', (code) =>
        reject(new Error(`the program ended with ${code ?? 'a signal'}: ${this.lastWords()}`)),
      );
    });
    this.addresses.catch(() => undefined);
  }

  lastWords(): string {
    return this.#words.trim();
  }
}
