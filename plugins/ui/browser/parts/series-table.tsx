import type { JSX } from 'preact';
import { formatCount, formatSecond, formatShort } from '../model/format.js';
import type { Series } from '../model/series.js';

/** Series that are drawn; the others stand in the table only. */
export const mostDrawn = 24;
const mostListed = 200;
const colours = 8;

/** The class that gives a series its colour. */
export function colourOf(position: number): string {
  return `series-${position % colours}`;
}

interface Properties {
  readonly series: readonly Series[];
  /** A moment whose values stand in the place of the last ones. */
  readonly moment: number | undefined;
}

/** The values of every series, the one with the greatest mean first; it is the chart's legend as well. */
export function SeriesTable({ series, moment }: Properties): JSX.Element {
  return (
    <div class="panel table" role="region" aria-label="Series" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col" class="number">
              {moment === undefined ? 'Last' : formatSecond(moment)}
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
          {series.slice(0, mostListed).map((one, position) => (
            <Row key={one.name} series={one} position={position} moment={moment} />
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

function Row({
  series: { name, figures, points },
  position,
  moment,
}: {
  readonly series: Series;
  readonly position: number;
  readonly moment: number | undefined;
}): JSX.Element {
  const now = moment === undefined ? figures?.last : points.find(({ ms }) => ms === moment)?.value;
  return (
    <tr>
      <th scope="row">
        <span class={position < mostDrawn ? `swatch ${colourOf(position)}` : 'swatch'} /> <code>{name}</code>
      </th>
      <td class="number">{shown(now)}</td>
      <td class="number is-minor">{shown(figures?.mean)}</td>
      <td class="number is-minor">{shown(figures?.min)}</td>
      <td class="number">{shown(figures?.max)}</td>
    </tr>
  );
}

function shown(value: number | undefined): string {
  return value === undefined ? '–' : formatShort(value);
}
