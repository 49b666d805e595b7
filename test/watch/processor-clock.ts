import { closeSync, openSync, readSync } from 'node:fs';

/**
 * CPU time of the main thread in milliseconds. Linux counts it per thread, and reports the main thread's count in every thread; elsewhere
 * this is the count of the process.
 */
export function openProcessorClock(): () => number {
  try {
    const file = openSync('/proc/self/schedstat', 'r');
    process.once('exit', () => closeSync(file));
    const bytes = Buffer.alloc(64);
    return () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 64, 0)).split(' ')[0]) / 1e6;
  } catch {
    return () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    };
  }
}
