import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatCount, formatShort } from '../model/format.js';
import type { Series } from '../model/series.js';

/** Number of rows rendered at a time. */
const pageOfSeries = 50;

interface Properties {
  readonly series: readonly Series[];
  readonly drawn: readonly Series[];
  /** The series that is drawn alone, if any. */
  readonly only: string | undefined;
  readonly onOnly: (name: string) => void;
}

/** The values of every series, the one with the largest mean first. Selecting one draws it alone. */
export function SeriesTable({ series, drawn, only, onOnly }: Properties): JSX.Element {
  const [count, setCount] = useState(pageOfSeries);
  const names = new Set(drawn.map(({ name }) => name));
  return (
    <div class="panel table">
      <table>
        <caption class="visually-hidden">Series and their values</caption>
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col" class="number">
              Last
            </th>
            <th scope="col" class="number is-minor">
              Mean
            </th>
            <th scope="col" class="number is-minor">
              Min
            </th>
            <th scope="col" class="number">
              Max
            </th>
          </tr>
        </thead>
        <tbody>
          {series.slice(0, count).map(({ name, colour, figures }) => (
            <tr key={name}>
              <th scope="row">
                <button
                  type="button"
                  class="series-name"
                  aria-pressed={only === name}
                  title={only === name ? 'Draw all again' : 'Draw only this'}
                  onClick={() => onOnly(name)}
                >
                  <span class={names.has(name) ? `swatch ${colour}` : 'swatch is-void'} />
                  <code>{name}</code>
                </button>
              </th>
              <td class="number">{shown(figures?.last)}</td>
              <td class="number is-minor">{shown(figures?.mean)}</td>
              <td class="number is-minor">{shown(figures?.min)}</td>
              <td class="number">{shown(figures?.max)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {series.length === 0 && <p class="empty">No series has this text.</p>}
      {series.length > count && (
        <p class="more">
          <button type="button" class="button" onClick={() => setCount((before) => before + pageOfSeries)}>
            Show {Math.min(pageOfSeries, series.length - count)} more
          </button>
          <span class="quiet">
            {formatCount(count)} of {formatCount(series.length)} series listed
          </span>
        </p>
      )}
    </div>
  );
}

function shown(value: number | undefined): string {
  return value === undefined ? '–' : formatShort(value);
}
