import { opendirSync } from 'node:fs';
import os from 'node:os';

/** Number of threads that Node starts for V8 unless --v8-pool-size sets it. */
const poolSize = 4;

/**
 * Gives V8's own threads, which mostly collect garbage, a lower priority than the event loop. There are four on any machine: with two
 * processors, their number, not their work, delays the event loop (docs/internals/reliability.md, Overload). Only Linux supports priorities per
 * thread. An explicit --v8-pool-size is kept.
 */
export function lowerHelperThreads(): void {
  const flags = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  if (process.platform !== 'linux' || flags.some((flag) => flag.includes('--v8-pool-size'))) return;
  try {
    for (const thread of helperThreads()) os.setPriority(thread, os.constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A container may hide its threads; priorities then stay as they are.
  }
}

/**
 * Finds the threads of V8. Linux lists threads in order of creation, and Node creates these before any others: the main thread, one that
 * waits for delayed tasks, and V8's.
 */
function helperThreads(): readonly number[] {
  const threads: number[] = [];
  const folder = opendirSync('/proc/self/task');
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync())
      threads.push(Number(entry.name));
  } finally {
    folder.closeSync();
  }
  return threads[0] === process.pid ? threads.slice(2, 2 + poolSize) : [];
}
