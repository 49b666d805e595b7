/** What the disk cache needs of SQLite. Both engines read and write the same files. */
import { hasCode } from '../../base/errors/system-error.js';

export type Parameter = string | number | Buffer;

/** An open file. Statements run one after the other, outside the event loop; errors have SQLite's codes, such as SQLITE_BUSY. */
export interface Connection {
  /** Resolves to the number of rows that were changed. */
  run(sql: string, parameters: readonly Parameter[]): Promise<number>;
  all<Row>(sql: string, parameters: readonly Parameter[]): Promise<Row[]>;
  /** Runs statements without parameters. */
  execute(sql: string): Promise<void>;
  /** Waits for the statements that run; an error leaves nothing to do. */
  close(): Promise<void>;
}

export interface Engine {
  readonly name: EngineName;
  /** @param beside a connection that rarely has work, whose thread the new one may share */
  connect(path: string, beside?: Connection): Promise<Connection>;
}

export type EngineName = 'sqlite3' | 'node:sqlite';

/** In order of preference. Native code is loaded only where there is a disk cache. */
const loaders: Readonly<Record<EngineName, () => Promise<Engine | undefined>>> = {
  sqlite3: async () => (await import('./sqlite3.js')).loadSqlite3(),
  'node:sqlite': async () => (await import('./node-sqlite.js')).loadNodeSqlite(),
};

export const engineNames = Object.keys(loaders) as readonly EngineName[];

/** Undefined where this machine or this release of Node does not have it. */
export function loadEngine(name: EngineName): Promise<Engine | undefined> {
  return loaders[name]();
}

let found: Promise<Engine> | undefined;

/** The engine that is used. @throws where there is none */
export function diskEngine(): Promise<Engine> {
  return (found ??= findEngine());
}

async function findEngine(): Promise<Engine> {
  for (const name of engineNames) {
    const engine = await loadEngine(name);
    if (engine !== undefined) return engine;
  }
  throw new Error(
    'SQLite is not installed: run "npm run sqlite3" in the repository or "npm install sqlite3" beside the package, or use Node.js 22 or later, which has its own',
  );
}

/** Whether SQLite says that the file is broken. */
export function isDamage(error: unknown): boolean {
  return hasCode(error, 'SQLITE_CORRUPT');
}
