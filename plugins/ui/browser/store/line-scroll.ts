type Scroll = (ms: number) => void;

let shown: Scroll | undefined;

/** Called by the list of lines that is shown, with the function that scrolls it to a time; returns the function that takes it back. */
export function offerLineScroll(scroll: Scroll): () => void {
  shown = scroll;
  return () => {
    if (shown === scroll) shown = undefined;
  };
}

/** Scrolls the shown lines to the one nearest to a time and gives it the focus; false if no lines are shown. */
export function scrollToTime(ms: number): boolean {
  shown?.(ms);
  return shown !== undefined;
}
