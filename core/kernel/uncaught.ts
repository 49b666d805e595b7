/** Reaction of a process to errors that nothing caught. */
export interface Uncaught {
  /** True when it is an error of the system: it is reported, and the process goes on. */
  outlives(error: Error): boolean;
  /** Reports a defect synchronously, because the process is about to end. */
  logDefect(error: Error): void;
}

/**
 * Handles errors that nothing caught, including unhandled rejections. A defect is reported and ends the process with status 1, because the
 * state after it is unknown. An error of the system, such as of too few file descriptors, may come from any call, so every callback has to
 * withstand it: here, for all of them.
 */
export function endOnDefect(uncaught: Uncaught): () => void {
  const onUncaught = (error: Error): void => {
    if (uncaught.outlives(error)) return;
    process.exitCode = 1;
    try {
      uncaught.logDefect(error);
    } finally {
      process.exit();
    }
  };
  process.on('uncaughtException', onUncaught);
  return () => process.off('uncaughtException', onUncaught);
}
