/** The SQLite engines that this machine has decide which tests can run. */
import { createRequire, isBuiltin } from 'node:module';
import test, { type ExecutionContext, type Implementation } from 'ava';
import {
  engineNames,
  loadEngine,
  type Engine,
  type EngineName,
} from '../../../core/cache/disk-engine/engine.js';
import { waitForBuild } from './running-build.js';

waitForBuild();
/** Found synchronously: files that share a process with one that awaits could not declare their tests. */
const engines = engineNames.map((name) => ({ name, isThere: isThere(name) }));

const notBuilt = 'sqlite3 is not built; npm run sqlite3 builds it, with a C++ compiler, make and Python 3';

/** True if a proxy can have a disk cache here. */
export const hasDisk = engines.some((engine) => engine.isThere);

type Declare = (title: string, implementation: Implementation<[]>) => void;

/** Declares a test for each engine that this release of Node supports. If sqlite3 is not built, a line says so. */
export function eachEngine(title: string, run: (t: ExecutionContext, engine: Engine) => Promise<void>): void {
  for (const { name, isThere: isHere } of engines) {
    const full = `${title} (${name})`;
    if (isHere) test(full, async (t) => run(t, await engineOf(name)));
    else if (name === 'sqlite3') leaveOut(full);
  }
}

/** Declares a test that needs a disk cache with any engine. */
export function withDisk(declare: Declare): Declare {
  if (hasDisk) return declare;
  return leaveOut;
}

function leaveOut(title: string): void {
  console.log(`NOT RUN: "${title}": ${notBuilt}`);
  test.skip(title, () => undefined);
}

function isThere(name: EngineName): boolean {
  if (isBuiltin(name)) return true;
  try {
    createRequire(import.meta.url)(name);
    return true;
  } catch {
    return false;
  }
}

async function engineOf(name: EngineName): Promise<Engine> {
  const engine = await loadEngine(name);
  if (engine === undefined) throw new Error(`${name} is there, but is not taken as an engine`);
  return engine;
}
