/** The package sqlite3: statements run in threads of libuv. */
import { promisify } from 'node:util';
import type { Database, RunResult } from 'sqlite3';
import type { Connection, Engine, Parameter } from './engine.js';

/** Undefined if the package is not installed, or its native library was not built or is for another machine. */
export async function loadSqlite3(): Promise<Engine | undefined> {
  try {
    const { default: sqlite } = await import('sqlite3');
    return { name: 'sqlite3', connect: (path) => connect(sqlite, path) };
  } catch {
    return undefined;
  }
}

function connect(sqlite: { readonly Database: typeof Database }, path: string): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const database = new sqlite.Database(path, (error) => {
      if (error !== null) {
        reject(error);
        return;
      }
      // One statement at a time: queued statements then occupy no thread.
      database.serialize();
      resolve(new Sqlite3Connection(database));
    });
  });
}

class Sqlite3Connection implements Connection {
  constructor(private readonly database: Database) {}

  run(sql: string, parameters: readonly Parameter[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.database.run(sql, parameters, function (this: RunResult, error: Error | null) {
        if (error === null) resolve(this.changes);
        else reject(error);
      });
    });
  }

  all<Row>(sql: string, parameters: readonly Parameter[]): Promise<Row[]> {
    return promisify<Row[]>((done) => void this.database.all<Row>(sql, parameters, done))();
  }

  execute(sql: string): Promise<void> {
    return promisify((done: (error?: unknown) => void) => void this.database.exec(sql, done))();
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.database.close(() => resolve());
    });
  }
}
