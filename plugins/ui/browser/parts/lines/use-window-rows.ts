import {
  defaultRangeExtractor,
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  windowScroll,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

type Options = VirtualizerOptions<Window, HTMLElement>;
export type WindowRows = Virtualizer<Window, HTMLElement>;

/** Rows rendered beyond those in sight, on the side that comes next, and on the other. */
const overscan = 8;
const overscanBehind = 2;

/** The place of a list in its page. */
interface Place {
  /** Pixels above the list. */
  readonly top: number;
  /** Height of what stays at the top of the window while the list scrolls. */
  readonly covered: number;
  readonly width: number;
}

/**
 * The rows of a list that scrolls with the window: only those near the window are rendered, and `kept` is another one that always is. Rows
 * are measured, so each may have a height of its own.
 */
export function useWindowRows(
  list: RefObject<HTMLElement | null>,
  { count, idOf, estimate, kept }: RowsOptions,
): readonly [WindowRows, Place] {
  const [, redraw] = useState({});
  const [place, setPlace] = useState<Place>({ top: 0, covered: 0, width: 0 });
  const options: Options = {
    count,
    getScrollElement: () => window,
    estimateSize: () => estimate,
    getItemKey: idOf,
    overscan,
    scrollMargin: place.top,
    scrollPaddingStart: place.covered + 4,
    scrollPaddingEnd: 4,
    initialRect: { width: innerWidth, height: innerHeight },
    rangeExtractor: (range) => {
      const isUpwards = rows.scrollDirection === 'backward';
      const near = defaultRangeExtractor({
        ...range,
        startIndex: isUpwards ? range.startIndex : range.startIndex + overscan - overscanBehind,
        endIndex: isUpwards ? range.endIndex - overscan + overscanBehind : range.endIndex,
      });
      if (kept < 0 || kept >= count || near.includes(kept)) return near;
      return kept < (near[0] ?? 0) ? [kept, ...near] : [...near, kept];
    },
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    onChange: () => redraw({}),
  };
  const [rows] = useState(() => {
    const made = new Virtualizer<Window, HTMLElement>(options);
    made.shouldAdjustScrollPositionOnItemSizeChange = (item, _delta, { scrollOffset, scrollDirection }) => {
      const offset = scrollOffset ?? 0;
      const isFirst = item.size === estimate;
      // After a leap downwards all rows are new, and nobody sees that they move before they are painted. Each would move all later ones by itself.
      if (scrollDirection === 'forward') return !isFirst && item.end <= offset;
      return isFirst ? item.start < offset : item.end <= offset && scrollDirection !== 'backward';
    };
    return made;
  });
  rows.setOptions(options);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  useLayoutEffect(() => {
    const look = (): void =>
      setPlace((before) => {
        const now = placeOf(list.current);
        const isSame = now.top === before.top && now.covered === before.covered && now.width === before.width;
        return isSame ? before : now;
      });
    look();
    // Parts above the list change the height of the page, too.
    const observer = new ResizeObserver(look);
    observer.observe(document.body);
    if (list.current !== null) observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  return [rows, place];
}

export interface RowsOptions {
  readonly count: number;
  readonly idOf: (index: number) => number;
  /** The usual height of a row. */
  readonly estimate: number;
  readonly kept: number;
}

function placeOf(list: HTMLElement | null): Place {
  if (list === null) return { top: 0, covered: 0, width: 0 };
  let covered = 0;
  for (
    let before = list.parentElement?.previousElementSibling ?? null;
    before !== null;
    before = before.previousElementSibling
  ) {
    if (getComputedStyle(before).position === 'sticky') covered += before.getBoundingClientRect().height;
  }
  const { top, width } = list.getBoundingClientRect();
  return { top: Math.round(top + scrollY), covered: Math.round(covered), width: Math.round(width) };
}
