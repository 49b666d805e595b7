import type { JSX } from 'preact';
import { formatCount, formatCounted, formatMs } from '../model/format.js';
import { shownValue, sortOptions } from '../model/options.js';
import type {
  BackendFigures,
  Latency,
  OptionDescription,
  PartDescription,
  SectionDescription,
} from '../model/wire.js';

interface Properties {
  readonly part: PartDescription | SectionDescription;
  /** Set for the stage that calls the backend. */
  readonly backend: BackendFigures | undefined;
}

/** Everything about one part of the pipeline: its position, its options and its counters. */
export function PartDetails({ part, backend }: Properties): JSX.Element {
  const { changed, others } = sortOptions(part.options);
  const placed = 'id' in part ? part : undefined;
  return (
    <div class="details">
      {placed !== undefined && (
        <p class="quiet">
          In the file at <code>{placed.at.split('/').slice(-2).join('/')}</code>, plugin{' '}
          <code>{placed.name}</code>.
        </p>
      )}
      {placed?.figures !== undefined && placed.figures.calls > 0 && (
        <Times
          own={placed.figures.ownMs}
          total={placed.figures.totalMs}
          answeredHere={placed.figures.answeredHere}
        />
      )}
      {backend?.ms !== undefined && (
        <p class="times">
          <Time name="a call to VictoriaLogs" latency={backend.ms} />
          <span>
            calls <b>{formatCount(backend.calls)}</b>, failed <b>{formatCount(backend.errors)}</b>
          </span>
        </p>
      )}
      <h4>Options that differ from their default</h4>
      {changed.length === 0 ? <p class="quiet">None.</p> : <OptionTable options={changed} hasDefaults />}
      {others.length > 0 && (
        <details>
          <summary>
            {formatCounted(others.length, 'option')} at {others.length === 1 ? 'its' : 'their'} default
          </summary>
          <OptionTable options={others} />
        </details>
      )}
      {placed !== undefined && placed.meters.length > 0 && <Counters meters={placed.meters} />}
    </div>
  );
}

function Times({
  own,
  total,
  answeredHere,
}: {
  readonly own: Latency | undefined;
  readonly total: Latency | undefined;
  readonly answeredHere: number;
}): JSX.Element {
  return (
    <p class="times">
      {own !== undefined && <Time name="own time" latency={own} />}
      {total !== undefined && <Time name="with the stages behind" latency={total} />}
      <span>
        answered without the stages behind <b>{formatCount(answeredHere)}</b>
      </span>
    </p>
  );
}

function Time({ name, latency }: { readonly name: string; readonly latency: Latency }): JSX.Element {
  return (
    <span>
      {name}: p50 <b>{formatMs(latency.p50)}</b>, p95 <b>{formatMs(latency.p95)}</b> ms
    </span>
  );
}

function OptionTable({
  options,
  hasDefaults = false,
}: {
  readonly options: readonly OptionDescription[];
  readonly hasDefaults?: boolean;
}): JSX.Element {
  return (
    <dl class={hasDefaults ? 'options is-changed' : 'options'}>
      {options.map((option) => (
        <div key={option.key}>
          <dt>
            <code>{option.key}</code>
          </dt>
          <dd>
            <p class="option-value">
              <code class={option.isSecret || !option.isSet ? 'is-void' : ''}>{shownValue(option)}</code>
              {option.unit !== undefined && option.isSet && <span class="unit"> {option.unit}</span>}
              {hasDefaults && !option.isSecret && (
                <span class="quiet">
                  {' '}
                  default <code>{option.default ?? 'not set'}</code>
                </span>
              )}
            </p>
            <p class="quiet">
              {option.description} {option.flag !== undefined && <code>-{option.flag}</code>}
            </p>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Counters({ meters }: { readonly meters: PartDescription['meters'] }): JSX.Element {
  return (
    <>
      <h4>What it has counted</h4>
      <dl class="options counters">
        {meters.map(({ name, help, value }) => (
          <div key={name}>
            <dt class="number">{formatCount(value)}</dt>
            <dd>
              {help} <code class="quiet">{name}</code>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
