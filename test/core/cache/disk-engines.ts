/** What there is of the engines of the disk cache decides which tests can be run. */
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
/** Found out at once: files that share a room with one that awaits could not declare their tests. */
const engines = engineNames.map((name) => ({ name, isThere: isThere(name) }));

const notBuilt = 'sqlite3 is not built; npm run sqlite3 builds it, with a C++ compiler, make and Python 3';

/** Whether a proxy can have a disk cache here. */
export const hasDisk = engines.some((engine) => engine.isThere);

type Declare = (title: string, implementation: Implementation<[]>) => void;

/** Declares a test for each engine that this release of Node can have. Where sqlite3 is not built, a line says so. */
export function eachEngine(title: string, run: (t: ExecutionContext, engine: Engine) => Promise<void>): void {
  for (const { name, isThere: isHere } of engines) {
    const full = `${title} (${name})`;
    if (isHere) test(full, async (t) => run(t, await engineOf(name)));
    else if (name === 'sqlite3') leaveOut(full);
  }
}

/** What declares a test that needs a disk cache, whichever its engine is. */
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
