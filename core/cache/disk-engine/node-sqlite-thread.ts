/** Entry point of a thread that runs statements of node:sqlite, one after the other. */
import { parentPort } from 'node:worker_threads';
import type { Parameter } from './engine.js';
import type { Outcome, Work } from './node-sqlite.js';

/** The used part of node:sqlite, whose types need a later release of Node than the oldest supported one. */
interface Sqlite {
  readonly DatabaseSync: new (path: string) => Database;
}

interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

interface Statement {
  setReadBigInts(enabled: boolean): void;
  run(...parameters: readonly unknown[]): { readonly changes: number | bigint };
  all(...parameters: readonly unknown[]): readonly Readonly<Record<string, unknown>>[];
}

/** SQLite's names of its error codes. */
const codes: ReadonlyMap<number, string> = new Map([
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [8, 'SQLITE_READONLY'],
  [10, 'SQLITE_IOERR'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [26, 'SQLITE_NOTADB'],
]);

// The module exists, or the thread would not have been started.
const sqlite = process.getBuiltinModule('node:sqlite') as Sqlite;
const databases = new Map<number, Database>();

parentPort?.on('message', (work: Work) => {
  parentPort?.postMessage(outcomeOf(work));
});

function outcomeOf(work: Work): Outcome {
  try {
    return { result: resultOf(work) };
  } catch (error) {
    return failure(error);
  }
}

function resultOf(work: Work): unknown {
  if (work.kind === 'open') {
    databases.set(work.connection, new sqlite.DatabaseSync(work.path));
    return undefined;
  }
  const database = databases.get(work.connection);
  if (database === undefined) throw new Error('the database is closed');
  switch (work.kind) {
    case 'execute':
      database.exec(work.sql);
      return undefined;
    case 'run':
      return Number(database.prepare(work.sql).run(...work.parameters.map(bound)).changes);
    case 'all':
      return all(database, work.sql, work.parameters);
    case 'close':
      databases.delete(work.connection);
      database.close();
      return undefined;
  }
}

/** Binds whole numbers as bigint, because node:sqlite would bind a number as a fraction. */
function bound(parameter: Parameter): unknown {
  return typeof parameter === 'number' && Number.isInteger(parameter) ? BigInt(parameter) : parameter;
}

function all(database: Database, sql: string, parameters: readonly Parameter[]): unknown {
  const statement = database.prepare(sql);
  // A damaged file may contain large integers, which Node refuses to read as numbers.
  statement.setReadBigInts(true);
  return statement
    .all(...parameters.map(bound))
    .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

function failure(error: unknown): Outcome {
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  // The lowest byte is the primary code; the others give details.
  const number = 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  const code = codes.get(number);
  return { message: code === undefined ? error.message : `${code}: ${error.message}`, code };
}
