import type { JSX } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { colourOf, columnsOf, LabelUsage } from '../model/lines/label-columns.js';
import { labelOf, type LogRow } from '../model/log-rows.js';
import type { Marker } from '../model/match-marks.js';
import type { TimeRange } from '../model/time-range.js';
import { columnChoice } from '../store/columns.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { ListHead } from './lines/list-head.js';
import { Row, type Chip } from './lines/log-row.js';
import { useActiveRow, useRowKeys } from './lines/use-row-keys.js';
import { useWindowRows, type WindowRows } from './lines/use-window-rows.js';

const dayMs = 86_400_000;
/** Usual height of a row, and the number of rows before the end at which more are loaded. */
const rowHeight = 33;
const nearEnd = 20;

/**
 * Lines that expand to their labels. Only those near the window are rendered. Arrow keys, PageUp, PageDown, Home and End move between
 * rows, Enter expands one.
 */
export function LogList({
  rows,
  range,
  marker,
  canChange = false,
  onNearEnd,
}: {
  readonly rows: readonly LogRow[];
  readonly range: TimeRange;
  readonly marker: Marker;
  /** True if rows offer to change the query. */
  readonly canChange?: boolean;
  /** Called when somebody has scrolled near the last row. */
  readonly onNearEnd?: () => void;
}): JSX.Element {
  const { zone, wraps } = useStore(session.store, (state) => state.settings);
  const choice = useStore(columnChoice, (state) => state);
  const list = useRef<HTMLOListElement>(null);
  const usage = useMemo(() => new LabelUsage(rows), [rows]);
  const differing = useDiffering(usage, range);
  const columns = useMemo(() => columnsOf(usage, differing, choice), [usage, differing, choice]);
  const [isOpen, toggleOpen] = useKeys();
  const [isFull, toggleFull] = useKeys();
  const [active, activate] = useActiveRow(rows);
  const idOf = useCallback((index: number) => rows[index]?.id ?? index, [rows]);
  const [virtual, place] = useWindowRows(list, {
    count: rows.length,
    idOf,
    estimate: rowHeight,
    kept: active,
  });
  const onKeyDown = useRowKeys(virtual, rows.length, active, activate);
  const layout = `${place.width} ${wraps} ${columns.map(({ width }) => width).join(' ')}`;
  // Heights that were measured at another width are wrong now. A row that is as high as before tells no observer.
  useLayoutEffect(() => {
    virtual.measure();
    // The positions are computed anew, with which the heights are compared.
    virtual.getTotalSize();
    for (const row of virtual.elementsCache.values())
      if (row.isConnected) virtual.resizeItem(virtual.indexFromElement(row), row.offsetHeight);
  }, [layout]);
  useNearEnd(virtual, rows.length, onNearEnd);
  const hasDays = range.endMs - range.startMs > dayMs;
  const name = `Log lines: ${rows.length}`;
  return (
    <div
      class="panel log-panel"
      style={{
        '--time': hasDays ? '23ch' : '12ch',
        '--columns': columns.map(({ width }) => `${width}ch`).join(' '),
      }}
    >
      <ListHead names={usage.names} columns={columns} wraps={wraps} />
      <ol
        ref={list}
        class={wraps ? 'log' : 'log is-cut'}
        aria-label={name}
        style={{ height: `${virtual.getTotalSize()}px` }}
        onKeyDown={onKeyDown}
        onFocusIn={(event) => {
          const row = event.target instanceof Element ? event.target.closest('.row') : null;
          if (row instanceof HTMLElement) activate(virtual.indexFromElement(row));
        }}
      >
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <Row
              key={key}
              row={row}
              index={index}
              count={rows.length}
              top={start - place.top}
              chips={columns.map(({ name: label }) => chipOf(row, label))}
              zone={zone}
              hasDay={hasDays}
              marker={marker}
              canChange={canChange}
              isActive={index === active}
              isOpen={isOpen(row.key)}
              isFull={isFull(row.key)}
              layout={layout}
              measure={virtual.measureElement}
              onOpen={toggleOpen}
              onFull={toggleFull}
            />
          );
        })}
      </ol>
    </div>
  );
}

function chipOf(row: LogRow, name: string): Chip {
  const value = labelOf(row, name);
  return { name, value, colour: value === undefined ? undefined : colourOf(value) };
}

/** The labels that differ among rows; while lines are added to one list, a column that is there stays. */
function useDiffering(usage: LabelUsage, range: TimeRange): readonly string[] {
  const kept = useRef<{ readonly range: TimeRange; readonly names: readonly string[] } | undefined>(
    undefined,
  );
  return useMemo(() => {
    const before = kept.current?.range === range ? kept.current.names : [];
    const names = before.length > 0 ? before : usage.differing();
    kept.current = { range, names };
    return names;
  }, [usage, range]);
}

/** A set of keys of rows, and the function that adds or removes one. */
function useKeys(): readonly [(key: string) => boolean, (key: string) => void] {
  const [keys, setKeys] = useState<ReadonlySet<string>>(() => new Set());
  const toggle = useCallback(
    (key: string) =>
      setKeys((before) => {
        const next = new Set(before);
        if (!next.delete(key)) next.add(key);
        return next;
      }),
    [],
  );
  return [(key) => keys.has(key), toggle];
}

/** Calls a function once for each number of rows, when somebody has scrolled to where they end. */
function useNearEnd(virtual: WindowRows, count: number, onNearEnd: (() => void) | undefined): void {
  const now = useRef({ count, onNearEnd });
  now.current = { count, onNearEnd };
  useEffect(() => {
    let calledFor = -1;
    let frame = 0;
    const look = (): void => {
      const { count: rows, onNearEnd: call } = now.current;
      const last = virtual.calculateRange()?.endIndex ?? 0;
      if (call === undefined || calledFor === rows || scrollY === 0 || last < rows - nearEnd) return;
      calledFor = rows;
      call();
    };
    const onScroll = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(look);
    };
    addEventListener('scroll', onScroll, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', onScroll);
    };
  }, [virtual]);
}
