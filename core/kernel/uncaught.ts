/**
 * Handles errors that nothing caught, including unhandled rejections: the process reports the error and exits with status 1. The state
 * after such an error is unknown, so it cannot continue.
 */
export function endOnDefect(report: (error: Error) => void): () => void {
  const onUncaught = (error: Error): void => {
    process.exitCode = 1;
    try {
      report(error);
    } finally {
      process.exit();
    }
  };
  process.on('uncaughtException', onUncaught);
  return () => process.off('uncaughtException', onUncaught);
}
