/** What there is of the engines of the disk cache decides which tests can be run. */
import test, { type ExecutionContext, type Implementation } from 'ava';
import { engineNames, loadEngine, type Engine } from '../../../core/cache/disk-engine/engine.js';

const engines = await Promise.all(
  engineNames.map(async (name) => ({ name, engine: await loadEngine(name) })),
);

const notBuilt = 'sqlite3 is not built; npm run sqlite3 builds it, with a C++ compiler, make and Python 3';

/** Whether a proxy can have a disk cache here. */
export const hasDisk = engines.some(({ engine }) => engine !== undefined);

type Declare = (title: string, implementation: Implementation<[]>) => void;

/** Declares a test for each engine that this release of Node can have. Where sqlite3 is not built, a line says so. */
export function eachEngine(title: string, run: (t: ExecutionContext, engine: Engine) => Promise<void>): void {
  for (const { name, engine } of engines) {
    const full = `${title} (${name})`;
    if (engine !== undefined) test(full, (t) => run(t, engine));
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
