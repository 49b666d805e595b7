import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../core/program/child.js';

interface Held {
  value: Buffer;
  /** In the time of `performance.now`. */
  untilMs: number;
}

/** Faults of the store, which a test can change while it runs. */
export interface Faults {
  /** Delay before each response. */
  delayMs?: number;
  /** Reads commands but never responds. */
  isSilent?: boolean;
  /** Replaces the responses to commands; undefined keeps the normal response. */
  instead?: (command: string, args: readonly Buffer[]) => string | Buffer | undefined;
  /** Closes connections immediately. */
  isClosed?: boolean;
}

/** A fake Valkey in this process: the commands that the shared cache uses, and faults that a real one rarely has. */
export class FakeStore {
  readonly held = new Map<string, Held>();
  readonly faults: Faults = {};
  /** Number of commands so far, by name. */
  readonly counts = new Map<string, number>();
  password: string | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** A port that no other process gets while the store is stopped. */
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
    // Like Redis; otherwise a small response waits up to 40 ms for the acknowledgement of the previous one.
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  static async start(t: ExecutionContext): Promise<FakeStore> {
    const store = new FakeStore(await freePort());
    await store.listen();
    t.teardown(() => store.stop());
    return store;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Names of values, without those of generations. */
  get names(): readonly string[] {
    return [...this.held.keys()].filter((name) => !name.includes('generation'));
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Closes all connections and accepts no new ones; keeps the data. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
    if (this.faults.isClosed === true) return void socket.destroy();
    let waiting = Buffer.alloc(0);
    let saying = Promise.resolve();
    let isKnown = this.password === undefined;
    socket.on('data', (data: Buffer) => {
      waiting = Buffer.concat([waiting, data]);
      for (let read = readCommand(waiting); read !== undefined; read = readCommand(waiting)) {
        waiting = waiting.subarray(read.length);
        const [name = Buffer.alloc(0), ...args] = read.args;
        const command = name.toString().toUpperCase();
        this.counts.set(command, (this.counts.get(command) ?? 0) + 1);
        if (this.faults.isSilent === true) continue;
        let answer = this.faults.instead?.(command, args);
        if (answer === undefined && command === 'AUTH') {
          isKnown = args.at(-1)?.toString() === this.password;
          answer = isKnown ? '+OK\r\n' : '-WRONGPASS invalid username-password pair or user is disabled.\r\n';
        }
        if (answer === undefined && !isKnown) answer = '-NOAUTH Authentication required.\r\n';
        answer ??= this.#answer(command, args);
        const { delayMs } = this.faults;
        const said = answer;
        // One after another, in request order.
        const delayed = delayMs === undefined ? undefined : sleep(delayMs, undefined, { ref: false });
        saying = saying.then(() => delayed).then(() => void socket.write(said));
      }
    });
  }

  #answer(command: string, args: readonly Buffer[]): string | Buffer {
    const [name = '', second = ''] = args.map(String);
    switch (command) {
      case 'GETRANGE':
        return bulk(this.#get(name)?.value.subarray(0, Number(args[2]) + 1) ?? Buffer.alloc(0));
      case 'MGET':
        return Buffer.concat([
          Buffer.from(`*${args.length}\r\n`),
          ...args.map((each) => bulk(this.#get(each.toString())?.value)),
        ]);
      case 'PTTL': {
        const held = this.#get(name);
        return `:${held === undefined ? -2 : Math.max(0, Math.ceil(held.untilMs - performance.now()))}\r\n`;
      }
      case 'PEXPIRE': {
        const held = this.#get(name);
        if (held !== undefined) held.untilMs = performance.now() + Number(second);
        return `:${held === undefined ? 0 : 1}\r\n`;
      }
      case 'UNLINK':
        return `:${this.held.delete(name) ? 1 : 0}\r\n`;
      case 'SET':
        return this.#set(name, args);
      case 'SELECT':
        return '+OK\r\n';
      default:
        return `-ERR unknown command '${command}', with args beginning with: ${args.map((arg) => `'${arg.toString()}' `).join('')}\r\n`;
    }
  }

  #set(name: string, args: readonly Buffer[]): string | Buffer {
    const options = args.slice(2).map((option) => option.toString().toUpperCase());
    const before = this.#get(name)?.value;
    if (options.includes('NX') && before !== undefined) return '$-1\r\n';
    const ttlMs = Number(options[options.indexOf('PX') + 1]);
    this.held.set(name, { value: Buffer.from(args[1] ?? ''), untilMs: performance.now() + ttlMs });
    return options.includes('GET') ? bulk(before) : '+OK\r\n';
  }

  #get(name: string): Held | undefined {
    const held = this.held.get(name);
    return held === undefined || held.untilMs <= performance.now() ? undefined : held;
  }
}

function bulk(value: Buffer | undefined): Buffer {
  if (value === undefined) return Buffer.from('$-1\r\n');
  return Buffer.concat([Buffer.from(`$${value.byteLength}\r\n`), value, Buffer.from('\r\n')]);
}

/** The first complete command in these bytes. */
function readCommand(
  bytes: Buffer,
): { readonly args: readonly Buffer[]; readonly length: number } | undefined {
  let at = 0;
  const line = (): string | undefined => {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const text = bytes.toString('latin1', at, end);
    at = end + 2;
    return text;
  };
  const count = line();
  if (count === undefined) return undefined;
  const args: Buffer[] = [];
  for (let left = Number(count.slice(1)); left > 0; left -= 1) {
    const length = Number(line()?.slice(1));
    if (!(at + length + 2 <= bytes.byteLength)) return undefined;
    args.push(bytes.subarray(at, at + length));
    at += length + 2;
  }
  return { args, length: at };
}
