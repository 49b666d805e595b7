import { closeSync, openSync, readSync } from 'node:fs';

/**
 * Milliseconds that the main thread has been on a processor. Linux counts them for each thread, and in every thread
 * tells those of the main one; elsewhere the process's count.
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
