import type { JSX } from 'preact';
import { memo } from '../store/memo.js';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatDay, formatTime } from '../model/format.js';
import type { LogRow } from '../model/log-rows.js';
import type { Marker } from '../model/match-marks.js';
import type { Zone } from '../model/settings.js';
import type { TimeRange } from '../model/time-range.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { LineText } from './line-text.js';
import { RowDetails } from './row-details.js';

const dayMs = 86_400_000;
/** Number of rows rendered at a time, as the list is scrolled: thousands at once would block the page. */
const pageOfRows = 100;

/** Lines that expand to their labels. Up and down move between rows, Enter expands one. */
export function LogList({
  rows,
  range,
  marker,
  canChange = false,
}: {
  readonly rows: readonly LogRow[];
  readonly range: TimeRange;
  readonly marker: Marker;
  /** True if rows offer to change the query. */
  readonly canChange?: boolean;
}): JSX.Element {
  const { zone, wraps } = useStore(session.store, (state) => state.settings);
  const [count, setCount] = useState(pageOfRows);
  const list = useRef<HTMLOListElement>(null);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (end.current === null || count >= rows.length) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) setCount((before) => before + pageOfRows);
      },
      { rootMargin: '800px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [count, rows.length]);
  const hasDays = range.endMs - range.startMs > dayMs;
  const move = (event: KeyboardEvent): void => {
    const heads = [...(list.current?.querySelectorAll<HTMLElement>('.row-head') ?? [])];
    const at = heads.findIndex((head) => head === event.target);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: heads.length - 1 }[event.key];
    const head = next === undefined || at === -1 ? undefined : heads[next];
    if (head === undefined) return;
    event.preventDefault();
    head.focus();
  };
  return (
    <>
      <ol ref={list} class={wraps ? 'panel log' : 'panel log is-cut'} aria-label="Log lines" onKeyDown={move}>
        {rows.slice(0, count).map((row, index) => (
          <Row
            key={row.key}
            row={row}
            zone={zone}
            hasDay={hasDays}
            marker={marker}
            canChange={canChange}
            isFirst={index === 0}
          />
        ))}
      </ol>
      {count < rows.length && <div ref={end} class="log-end" aria-hidden="true" />}
    </>
  );
}

interface RowProperties {
  readonly row: LogRow;
  readonly zone: Zone;
  readonly hasDay: boolean;
  readonly marker: Marker;
  readonly canChange: boolean;
  /** True for the only row in the tab order; the arrow keys move to the others. */
  readonly isFirst: boolean;
}

const Row = memo(function Row({ row, zone, hasDay, marker, canChange, isFirst }: RowProperties): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const toggle = (): void => {
    // A text selected with the mouse is meant to be copied.
    if ((getSelection()?.toString() ?? '') === '') setOpen(!isOpen);
  };
  return (
    <li class={`row level-${row.level}${isOpen ? ' is-open' : ''}`}>
      <div
        class="row-head"
        role="button"
        tabIndex={isFirst || isOpen ? 0 : -1}
        aria-expanded={isOpen}
        onClick={toggle}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          setOpen(!isOpen);
        }}
      >
        <time datetime={new Date(row.ms).toISOString()} title={`${row.ns} ns`}>
          {hasDay && <span class="day">{formatDay(row.ms, zone)} </span>}
          {formatTime(row.ms, zone)}
        </time>
        <span class="level">{row.level}</span>
        <span class="line">
          {row.error !== undefined && (
            <span class="error-badge" title="Something of the query did not work on this line">
              {row.error}
            </span>
          )}
          <LineText line={row.line} marker={marker} />
        </span>
      </div>
      {isOpen && <RowDetails row={row} canChange={canChange} />}
    </li>
  );
});
