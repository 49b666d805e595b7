import type { JSX } from 'preact';
import { formatValue } from '../model/format.js';
import type { Series } from '../model/series.js';
import type { ValueUnit } from '../model/wire.js';
import { IconButton } from './icon-button.js';
import { usePages } from './use-pages.js';

interface Properties {
  readonly series: readonly Series[];
  readonly drawn: readonly Series[];
  /** The series that is drawn alone, if any. */
  readonly only: string | undefined;
  /** The series that are not drawn. */
  readonly hidden: ReadonlySet<string>;
  readonly unit: ValueUnit;
  readonly onOnly: (name: string) => void;
  readonly onHide: (name: string) => void;
}

/** The values of every series, the one with the largest mean first. It is the legend: one is drawn alone, or hidden. */
export function SeriesTable({ series, drawn, only, hidden, unit, onOnly, onHide }: Properties): JSX.Element {
  const { shown: listed, more } = usePages(series, 'series');
  const colours = new Map(drawn.map(({ name, colour }) => [name, colour]));
  const shown = (value: number | undefined): string => (value === undefined ? '–' : formatValue(value, unit));
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
          {listed.map(({ name, figures }) => (
            <tr key={name}>
              <th scope="row">
                <button
                  type="button"
                  class="series-name"
                  aria-pressed={only === name}
                  title={only === name ? 'Draw all again' : 'Draw only this'}
                  onClick={() => onOnly(name)}
                >
                  <span class={colours.has(name) ? `swatch ${colours.get(name) ?? ''}` : 'swatch is-void'} />
                  <code>{name}</code>
                </button>
                <IconButton
                  icon="hide"
                  name={`Hide ${name}`}
                  title={hidden.has(name) ? 'Draw this again' : 'Hide this'}
                  isOn={hidden.has(name)}
                  onClick={() => onHide(name)}
                />
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
      {more}
    </div>
  );
}
