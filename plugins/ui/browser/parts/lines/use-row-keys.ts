import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { LogRow } from '../../model/log-rows.js';
import type { WindowRows } from './use-window-rows.js';

/** The row that has, or gets next, the focus; it is the only one in the tab order. */
export function useActiveRow(rows: readonly LogRow[]): readonly [number, (index: number) => void] {
  const [id, setId] = useState<number>();
  const index = useMemo(
    () => Math.max(0, id === undefined ? 0 : rows.findIndex((row) => row.id === id)),
    [rows, id],
  );
  return [index, (next) => setId(rows[next]?.id)];
}

/** Moves the focus over rows, rendered or not: up and down, by pages, to the ends. */
export function useRowKeys(
  virtual: WindowRows,
  count: number,
  active: number,
  activate: (index: number) => void,
): (event: KeyboardEvent) => void {
  const wanted = useRef<number | undefined>(undefined);
  const move = (index: number): void => {
    wanted.current = index;
    activate(index);
    virtual.scrollToIndex(index, { align: 'auto' });
  };
  useLayoutEffect(() => {
    if (wanted.current !== active) return;
    const item = virtual.getVirtualItems().find(({ index }) => index === active);
    const element = item === undefined ? undefined : virtual.elementsCache.get(item.key);
    const head = element?.querySelector<HTMLElement>('.row-head');
    if (head === null || head === undefined) return;
    wanted.current = undefined;
    head.focus({ preventScroll: true });
  });
  return (event) => {
    const isOnRow = event.target instanceof HTMLElement && event.target.classList.contains('row-head');
    if (!isOnRow || event.ctrlKey || event.metaKey || event.altKey) return;
    const { startIndex, endIndex } = virtual.range ?? { startIndex: 0, endIndex: 10 };
    const page = Math.max(1, endIndex - startIndex - 1);
    const next = new Map([
      ['ArrowDown', active + 1],
      ['ArrowUp', active - 1],
      ['PageDown', active + page],
      ['PageUp', active - page],
      ['Home', 0],
      ['End', count - 1],
    ]).get(event.key);
    if (next === undefined) return;
    event.preventDefault();
    move(Math.min(count - 1, Math.max(0, next)));
  };
}
