import { useState } from 'preact/hooks';

/** A range of columns in a chart, both bounds included. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** Moves a cursor over the columns of a chart, and selects columns, with pointer and arrow keys. */
export interface Cursor {
  readonly index: number | undefined;
  /** The columns being selected, or the column of the cursor. */
  readonly span: Span | undefined;
  readonly handlers: {
    readonly tabIndex: 0;
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onPointerMove: (event: PointerEvent) => void;
    readonly onPointerUp: () => void;
    readonly onPointerLeave: () => void;
    readonly onBlur: () => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
}

/**
 * Follows pointer and keys over `count` columns; `columnAt` finds the column at a distance from the chart's left edge. `onChoose` is called
 * with the columns over which the pointer was dragged, or the one on which Enter was pressed.
 */
export function useCursor(
  count: number,
  columnAt: (pixels: number) => number,
  onChoose: (span: Span) => void = () => undefined,
): Cursor {
  const [wanted, setWanted] = useState<number>();
  const [anchor, setAnchor] = useState<number>();
  const inside = (column: number): number => Math.min(count - 1, Math.max(0, column));
  const index = wanted === undefined || count === 0 ? undefined : inside(wanted);
  const from = anchor ?? index;
  const span =
    index === undefined || from === undefined
      ? undefined
      : { first: Math.min(from, index), last: Math.max(from, index) };
  const clear = (): void => {
    setWanted(undefined);
    setAnchor(undefined);
  };
  const choose = (): void => {
    if (span !== undefined) onChoose(span);
  };
  return {
    index,
    span,
    handlers: {
      tabIndex: 0,
      onPointerMove: (event) => setWanted(columnAt(distanceOf(event))),
      onPointerDown: (event) => {
        const column = inside(columnAt(distanceOf(event)));
        setWanted(column);
        setAnchor(column);
      },
      onPointerUp: () => {
        if (anchor !== undefined) choose();
        setAnchor(undefined);
      },
      onPointerLeave: clear,
      onBlur: clear,
      onKeyDown: (event) => {
        if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) choose();
        const next = movedIndex(event.key, index, count);
        if (next === undefined) return;
        event.preventDefault();
        setWanted(next);
      },
    },
  };
}

/** Distance from the left edge of the chart to the pointer in pixels. */
function distanceOf({ currentTarget, clientX }: PointerEvent): number {
  return currentTarget instanceof Element ? clientX - currentTarget.getBoundingClientRect().left : 0;
}

/** The index to which a key moves from one of `count` places; undefined for other keys. */
export function movedIndex(key: string, index: number | undefined, count: number): number | undefined {
  const inside = (next: number): number => Math.min(count - 1, Math.max(0, next));
  switch (key) {
    case 'ArrowLeft':
      return inside((index ?? count) - 1);
    case 'ArrowRight':
      return inside((index ?? -1) + 1);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
