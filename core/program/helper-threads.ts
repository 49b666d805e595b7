import { opendirSync } from 'node:fs';
import os from 'node:os';

/** The number of threads that Node starts for V8 where --v8-pool-size does not set it. */
const poolSize = 4;

/**
 * Gives V8's own threads, which mostly collect garbage, a lower priority than the event loop's. There are four of them whatever the machine
 * has: on two processors they, not their work, keep the event loop waiting (docs/reliability.md, Overload). Only Linux gives threads
 * priorities of their own. An explicit --v8-pool-size is kept.
 */
export function lowerHelperThreads(): void {
  const flags = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  if (process.platform !== 'linux' || flags.some((flag) => flag.includes('--v8-pool-size'))) return;
  try {
    for (const thread of helperThreads()) os.setPriority(thread, os.constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A container may hide its threads; all goes on as it was.
  }
}

/**
 * Linux lists threads in the order in which they were made, and Node makes these before any other: the main thread, one that waits for
 * delayed tasks, and V8's.
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
