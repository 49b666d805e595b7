/** Handlers for uncaught errors of a process. */
export interface Uncaught {
  /** Returns true for a system error: it is reported, and the process goes on. */
  outlives(error: Error): boolean;
  /** Reports a defect synchronously, because the process is about to end. */
  logDefect(error: Error): void;
}

/**
 * Handles uncaught errors, including unhandled rejections. A defect is reported and ends the process with status 1, because the state after
 * it is unknown. A system error, such as a lack of file descriptors, may be thrown by any call, so it is handled here for all callbacks.
 */
export function endOnDefect(uncaught: Uncaught): void {
  process.on('uncaughtException', (error) => {
    if (uncaught.outlives(error)) return;
    process.exitCode = 1;
    try {
      uncaught.logDefect(error);
    } finally {
      process.exit();
    }
  });
}
