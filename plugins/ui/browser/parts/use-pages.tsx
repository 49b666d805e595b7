import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatCount } from '../model/format.js';

/** Number of rows of a table that are rendered at a time. */
const pageOfRows = 50;

/** The first rows of a table, and a button below it that shows the next ones; `noun` names the rows. */
export function usePages<Row>(
  rows: readonly Row[],
  noun: string,
): { readonly shown: readonly Row[]; readonly more: JSX.Element | undefined } {
  const [count, setCount] = useState(pageOfRows);
  const more =
    rows.length > count ? (
      <p class="more">
        <button type="button" class="button" onClick={() => setCount((before) => before + pageOfRows)}>
          Show {Math.min(pageOfRows, rows.length - count)} more
        </button>
        <span class="quiet">
          {formatCount(count)} of {formatCount(rows.length)} {noun} listed
        </span>
      </p>
    ) : undefined;
  return { shown: rows.slice(0, count), more };
}
