/**
 * The last line of defence: an error that nothing caught, a rejection that nobody handles included, ends the process with status 1
 * after its last words. What state such an error leaves behind nobody knows, so going on is no choice.
 */
export function endOnDefect(lastWords: (error: Error) => void): () => void {
  const onUncaught = (error: Error): void => {
    process.exitCode = 1;
    try {
      lastWords(error);
    } finally {
      process.exit();
    }
  };
  process.on('uncaughtException', onUncaught);
  return () => process.off('uncaughtException', onUncaught);
}
