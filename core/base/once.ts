/** The function, which does nothing when it is called again. */
export function once(run: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    run();
  };
}
