import { isSystemError } from '../errors/system-error.js';

/** Resident memory of this process. Undefined while it cannot be read: Node opens a file for it, and may be out of descriptors. */
export function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
