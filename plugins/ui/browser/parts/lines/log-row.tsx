import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatCount, formatCounted, formatDay, formatTime } from '../../model/format.js';
import type { LogRow } from '../../model/log-rows.js';
import type { Marker } from '../../model/match-marks.js';
import type { Zone } from '../../model/settings.js';
import { memo } from '../../store/memo.js';
import { LineText } from '../line-text.js';
import { RowDetails } from '../row-details.js';

/** The value of a label beside a line, with the number of its colour. */
export interface Chip {
  readonly name: string;
  readonly value: string | undefined;
  readonly colour: number | undefined;
}

interface RowProperties {
  readonly row: LogRow;
  readonly index: number;
  /** Number of rows of the list. */
  readonly count: number;
  /** Pixels from the top of the list. */
  readonly top: number;
  readonly chips: readonly Chip[];
  readonly zone: Zone;
  readonly hasDay: boolean;
  readonly marker: Marker;
  readonly canChange: boolean;
  /** True for the only row in the tab order; the arrow keys move to the others. */
  readonly isActive: boolean;
  readonly isOpen: boolean;
  /** True if a long line is shown to its end. */
  readonly isFull: boolean;
  /** Changes whenever a line may need more or fewer rows of text. */
  readonly layout: string;
  readonly measure: (element: HTMLElement | null) => void;
  readonly onOpen: (key: string) => void;
  readonly onFull: (key: string) => void;
}

/** Lines of text that a closed row shows of a line (in styles/log.css too). */
const shownLines = 5;
/** A shorter line without breaks always fits. */
const fitting = 150;
/** Characters that are rendered of a line: more than five lines of a wide window, and at most when it is shown to its end. */
const cutLength = 4_000;
const fullLength = 100_000;

export const Row = memo(
  function Row({ row, index, count, top, measure, isOpen, canChange, ...rest }: RowProperties): JSX.Element {
    const { onOpen, onFull, isFull, isActive, layout } = rest;
    const text = useRef<HTMLSpanElement>(null);
    const hidden = useHiddenLines(text, row, isFull, layout);
    const toggle = (): void => {
      // A text selected with the mouse is meant to be copied.
      if ((getSelection()?.toString() ?? '') === '') onOpen(row.key);
    };
    return (
      <li
        ref={measure}
        data-index={index}
        aria-setsize={count}
        aria-posinset={index + 1}
        class={`row level-${row.level}${isOpen ? ' is-open' : ''}${isFull ? ' is-full' : ''}`}
        style={{ transform: `translateY(${top}px)` }}
      >
        <div
          class="row-head"
          role="button"
          tabIndex={isActive ? 0 : -1}
          aria-expanded={isOpen}
          onClick={toggle}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            onOpen(row.key);
          }}
        >
          <RowHead row={row} text={text} {...rest} />
        </div>
        {(hidden > 0 || isFull) && (
          <button
            type="button"
            class="button is-quiet show-more"
            tabIndex={isActive ? 0 : -1}
            aria-expanded={isFull}
            onClick={() => onFull(row.key)}
          >
            {isFull ? 'Show fewer lines' : `Show ${formatCounted(hidden, 'more line', 'more lines')}`}
          </button>
        )}
        {isOpen && <RowDetails row={row} canChange={canChange} />}
      </li>
    );
  },
  (name, before, after) =>
    name === 'chips' && isSame(before as RowProperties['chips'], after as RowProperties['chips']),
);

function RowHead({
  row,
  text,
  chips,
  zone,
  hasDay,
  marker,
  isFull,
}: Pick<RowProperties, 'row' | 'chips' | 'zone' | 'hasDay' | 'marker' | 'isFull'> & {
  readonly text: { current: HTMLSpanElement | null };
}): JSX.Element {
  const length = isFull ? fullLength : cutLength;
  return (
    <>
      <time datetime={new Date(row.ms).toISOString()} title={`${row.ns} ns`}>
        {hasDay && <span class="day">{formatDay(row.ms, zone)} </span>}
        {formatTime(row.ms, zone)}
      </time>
      <span class="level">{row.level}</span>
      {chips.map(({ name, value, colour }) => (
        <span
          key={name}
          class={colour === undefined ? 'chip' : `chip series-${colour}`}
          title={value === undefined ? `no ${name}` : `${name}: ${value}`}
        >
          {value ?? '–'}
        </span>
      ))}
      <span ref={text} class="line">
        {row.error !== undefined && (
          <span class="error-badge" title="Something of the query did not work on this line">
            {row.error}
          </span>
        )}
        <LineText line={row.line.length > length ? row.line.slice(0, length) : row.line} marker={marker} />
        {isFull && row.line.length > length && (
          <span class="quiet">
            {' '}
            … The first {formatCount(length)} of {formatCounted(row.line.length, 'character')}: “Copy line”
            has all.
          </span>
        )}
      </span>
    </>
  );
}

/** Number of lines of text that a closed row does not show; 0 if it shows all. */
function useHiddenLines(
  text: { readonly current: HTMLSpanElement | null },
  { line }: LogRow,
  isFull: boolean,
  layout: string,
): number {
  const [hidden, setHidden] = useState(0);
  useLayoutEffect(() => {
    const element = text.current;
    if (isFull || element === null) return;
    if (line.length < fitting && !line.includes('\n')) {
      setHidden(0);
      return;
    }
    const { scrollHeight, clientHeight } = element;
    const height = clientHeight / shownLines;
    const rendered = scrollHeight <= clientHeight + 2 ? 0 : Math.round(scrollHeight / height);
    const all = Math.round(rendered * Math.max(1, line.length / cutLength));
    setHidden(Math.max(0, all - shownLines));
  }, [line, isFull, layout]);
  return hidden;
}

function isSame(before: readonly Chip[], after: readonly Chip[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ name, value }, at) => name === after[at]?.name && value === after[at].value)
  );
}
