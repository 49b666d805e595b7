import type { JSX } from 'preact';
import { formatCount, formatShort } from '../model/format.js';
import type { Series } from '../model/series.js';

/** Series that are drawn; the others stand in the table only. */
export const mostDrawn = 24;
const mostListed = 200;
const colours = 8;

/** The class that gives a series its colour. */
export function colourOf(position: number): string {
  return `series-${position % colours}`;
}

/** The values of every series, the one with the greatest mean first; it is the chart's legend as well. */
export function SeriesTable({ series }: { readonly series: readonly Series[] }): JSX.Element | null {
  if (series.length === 0) return null;
  return (
    <div class="panel table" role="region" aria-label="Series" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Series</th>
            {['Last', 'Mean', 'Min', 'Max'].map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {series.slice(0, mostListed).map(({ name, figures }, position) => (
            <tr key={name}>
              <th scope="row">
                <span class={position < mostDrawn ? `swatch ${colourOf(position)}` : 'swatch'} />{' '}
                <code>{name}</code>
              </th>
              {[figures?.last, figures?.mean, figures?.min, figures?.max].map((value, column) => (
                <td key={column} class="number">
                  {value === undefined ? '–' : formatShort(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {series.length > mostListed && (
        <p class="quiet">
          The first {formatCount(mostListed)} of {formatCount(series.length)} series.
        </p>
      )}
      {series.length > mostDrawn && <p class="quiet">The chart shows the first {mostDrawn}.</p>}
    </div>
  );
}
