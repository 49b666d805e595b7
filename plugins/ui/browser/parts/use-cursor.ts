import { useState } from 'preact/hooks';

/** What a chart needs so that pointer and arrow keys move over its columns. */
export interface Cursor {
  readonly index: number | undefined;
  readonly handlers: {
    readonly tabIndex: 0;
    readonly onPointerMove: (event: PointerEvent) => void;
    readonly onPointerLeave: () => void;
    readonly onBlur: () => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
}

/** Follows pointer and keys over `count` columns; `columnAt` finds the one at a distance from the chart's left edge. */
export function useCursor(count: number, columnAt: (pixels: number) => number): Cursor {
  const [wanted, setWanted] = useState<number>();
  const index = wanted === undefined || count === 0 ? undefined : Math.min(count - 1, Math.max(0, wanted));
  const clear = (): void => setWanted(undefined);
  const onPointerMove = (event: PointerEvent): void => {
    const { currentTarget } = event;
    if (!(currentTarget instanceof Element)) return;
    setWanted(columnAt(event.clientX - currentTarget.getBoundingClientRect().left));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = moved(event.key, index, count);
    if (next === undefined) return;
    event.preventDefault();
    setWanted(next);
  };
  return { index, handlers: { tabIndex: 0, onPointerMove, onPointerLeave: clear, onBlur: clear, onKeyDown } };
}

function moved(key: string, index: number | undefined, count: number): number | undefined {
  switch (key) {
    case 'ArrowLeft':
      return (index ?? count) - 1;
    case 'ArrowRight':
      return (index ?? -1) + 1;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
