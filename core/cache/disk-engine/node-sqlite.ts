/** SQLite as included in Node from 22.13 on. Its statements block, so they run in threads. */
import { isBuiltin } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Connection, Engine, Parameter } from './engine.js';

/** A statement for the thread; `connection` is the id of one of its connections. */
export type Work = { readonly connection: number } & (
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'run' | 'all'; readonly sql: string; readonly parameters: readonly Parameter[] }
  | { readonly kind: 'execute'; readonly sql: string }
  | { readonly kind: 'close' }
);

/** Outcomes arrive in the order in which work was sent. */
export type Outcome =
  { readonly result: unknown } | { readonly message: string; readonly code: string | undefined };

/** Undefined if this release of Node lacks it. */
export function loadNodeSqlite(): Engine | undefined {
  return isBuiltin('node:sqlite') ? { name: 'node:sqlite', connect } : undefined;
}

async function connect(path: string, beside?: Connection): Promise<Connection> {
  const thread = beside instanceof ThreadConnection ? beside.thread : new SqliteThread();
  const connection = thread.begin();
  try {
    await thread.do({ connection, kind: 'open', path });
  } catch (error) {
    await thread.end(connection);
    throw error;
  }
  return new ThreadConnection(thread, connection);
}

class ThreadConnection implements Connection {
  constructor(
    readonly thread: SqliteThread,
    private readonly connection: number,
  ) {}

  async run(sql: string, parameters: readonly Parameter[]): Promise<number> {
    return (await this.thread.do({ connection: this.connection, kind: 'run', sql, parameters })) as number;
  }

  async all<Row>(sql: string, parameters: readonly Parameter[]): Promise<Row[]> {
    const rows = await this.thread.do({ connection: this.connection, kind: 'all', sql, parameters });
    // The statement determines the columns, so its author names the type.
    return (rows as Readonly<Record<string, unknown>>[]).map(withBuffers) as Row[];
  }

  async execute(sql: string): Promise<void> {
    await this.thread.do({ connection: this.connection, kind: 'execute', sql });
  }

  close(): Promise<void> {
    return this.thread.end(this.connection);
  }
}

/** Buffers arrive from a thread as Uint8Arrays. */
function withBuffers(row: Readonly<Record<string, unknown>>): unknown {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value,
  ]);
  return Object.fromEntries(entries);
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that runs statements one after the other. It ends with its last connection. */
class SqliteThread {
  readonly #worker = new Worker(new URL('./node-sqlite-thread.js', import.meta.url), {
    // Node prints an experimental warning at each start.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  readonly #waiting: Waiting[] = [];
  readonly #open = new Set<number>();
  #last = 0;
  #ended: Error | undefined;

  constructor() {
    this.#worker.unref();
    this.#worker.on('message', (outcome: Outcome) => this.#receive(outcome));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the SQLite thread has ended')));
  }

  begin(): number {
    this.#last += 1;
    this.#open.add(this.#last);
    return this.#last;
  }

  do(work: Work): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#waiting.push({ resolve, reject });
      // Keep the process alive while a statement runs.
      this.#worker.ref();
      this.#worker.postMessage(work);
    });
  }

  async end(connection: number): Promise<void> {
    if (!this.#open.has(connection)) return;
    await this.do({ connection, kind: 'close' }).catch(() => undefined);
    this.#open.delete(connection);
    if (this.#open.size === 0) await this.#worker.terminate();
  }

  #receive(outcome: Outcome): void {
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#worker.unref();
    if ('result' in outcome) waiting?.resolve(outcome.result);
    else waiting?.reject(Object.assign(new Error(outcome.message), { code: outcome.code }));
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}
