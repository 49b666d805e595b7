/** The interface of the disk cache to SQLite. Both engines read and write the same files. */
import { hasCode } from '../../base/errors/system-error.js';
import { keysOfTable } from '../../base/order.js';

export type Parameter = string | number | Buffer;

/** An open database. Statements run one after the other, outside the event loop; errors have SQLite's codes, such as SQLITE_BUSY. */
export interface Connection {
  /** Resolves to the number of changed rows. */
  run(sql: string, parameters: readonly Parameter[]): Promise<number>;
  all<Row>(sql: string, parameters: readonly Parameter[]): Promise<Row[]>;
  /** Runs statements without parameters. */
  execute(sql: string): Promise<void>;
  /** Waits for running statements, then closes; a failed close needs no further action. */
  close(): Promise<void>;
}

export interface Engine {
  readonly name: EngineName;
  /** @param beside a connection with little work, whose thread the new one may share */
  connect(path: string, beside?: Connection): Promise<Connection>;
}

export type EngineName = 'sqlite3' | 'node:sqlite';

/** In order of preference. Native code is loaded only if there is a disk cache. */
const loaders: Readonly<Record<EngineName, () => Promise<Engine | undefined>>> = {
  sqlite3: async () => (await import('./sqlite3.js')).loadSqlite3(),
  'node:sqlite': async () => (await import('./node-sqlite.js')).loadNodeSqlite(),
};

export const engineNames = keysOfTable(loaders);

/** Undefined if this machine or this release of Node lacks the engine. */
export function loadEngine(name: EngineName): Promise<Engine | undefined> {
  return loaders[name]();
}

let found: Promise<Engine> | undefined;

/**
 * The preferred engine that is available.
 * @throws Error if there is none
 */
export function diskEngine(): Promise<Engine> {
  return (found ??= findEngine());
}

async function findEngine(): Promise<Engine> {
  for (const name of engineNames) {
    const engine = await loadEngine(name);
    if (engine !== undefined) return engine;
  }
  throw new Error(
    'SQLite is not installed: run "npm run sqlite3" in the repository or "npm install sqlite3" next to the package, or use Node.js 22 or later, which includes SQLite',
  );
}

/** Tells whether SQLite reports a damaged file. */
export function isDamage(error: unknown): boolean {
  return hasCode(error, 'SQLITE_CORRUPT');
}
