import { isSystemError } from '../errors/system-error.js';

/** Resident memory of this process; undefined while it cannot be read, for which Node opens a file. */
export function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
