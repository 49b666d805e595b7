import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Measures, MeterAnswer, MeterQuestion } from './measures.js';

const main = fileURLToPath(new URL('../../core/program/main.js', import.meta.url));
const meter = new URL('./turn-meter.js', import.meta.url).href;

/** Start options of a program. */
export interface WatchSettings {
  /** Node.js options, such as `--max-old-space-size=200`. */
  readonly node?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Timeout for an answer of the meter: a program that is busy for longer counts as hung. */
  readonly patienceMs?: number;
}

/** The exit of a program. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of its stderr. */
  readonly lastWords: string;
}

const maxWords = 4_000;

/** A command of the program in a separate process with a meter. */
export class Watched {
  readonly url: string;
  /** The address of the admin routes; the same as `url` unless the program has an admin listener. */
  readonly adminUrl: string;
  readonly pid: number;
  /** Log records of level ERROR and above. */
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

  /** Starts a command and waits until it prints its address. */
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

  /** Its exit, once it has exited. */
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

  /** Kills it immediately. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

interface Addresses {
  readonly url: string;
  readonly adminUrl: string;
}

/** Reads the output of a program: its address, its errors, the end of stderr. */
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
