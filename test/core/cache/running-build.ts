/** A build of sqlite3 that runs in parallel with the tests; those that need a disk cache wait for its end. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hasCode } from '../../../core/base/errors/system-error.js';

/** Contains the process id of the build. */
const file = fileURLToPath(new URL('../../../.sqlite3-build', import.meta.url));
const lookEveryMs = 100;

export function buildRuns(pid: number): void {
  writeFileSync(file, String(pid));
}

/** Forgets a build that was killed: another process may have its id by now. */
export function noBuildRuns(): void {
  rmSync(file, { force: true });
}

/** Called by the process that ran the build. */
export function buildEnded(): void {
  if (runningBuild() === process.pid) noBuildRuns();
}

/** Blocks, because files that share a process with one that awaits could not declare their tests. */
export function waitForBuild(): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (isRunning()) Atomics.wait(pause, 0, 0, lookEveryMs);
}

function isRunning(): boolean {
  const pid = runningBuild();
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    throw error;
  }
}

function runningBuild(): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
