/**
 * Told of an error that nothing caught. True says that it is known to concern one connection or one request only, that these have
 * been failed for it, and that the process can go on.
 */
export type Containment = (error: Error) => boolean;

const containments = new Set<Containment>();

/** Adds a containment; the returned function takes it out again. */
export function containUncaught(containment: Containment): () => void {
  containments.add(containment);
  return () => containments.delete(containment);
}

/**
 * The last line of defence: an error that nothing caught, a rejection that nobody handles included, ends the process with status 1
 * after its last words, unless it is contained. What state such an error leaves behind nobody knows, so going on is no choice.
 */
export function endOnDefect(lastWords: (error: Error) => void): () => void {
  const onUncaught = (error: Error): void => {
    if ([...containments].some((contains) => contains(error))) return;
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
