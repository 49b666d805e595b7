import type { JSX } from 'preact';
import { formatCount, formatCounted, formatMs } from '../../model/format.js';
import { shownValue, sortOptions } from '../../model/options.js';
import type { CallFigures, Latency, OptionDescription, PartDescription } from '../../model/wire.js';

/** The times of a stage, and of its calls to the backend. */
export function Times({
  figures: { ownMs, totalMs, answeredHere, calls },
  backend,
}: {
  readonly figures: NonNullable<PartDescription['figures']>;
  readonly backend: CallFigures | undefined;
}): JSX.Element {
  return (
    <table class="times">
      <caption>
        {calls === 0
          ? 'No calls yet.'
          : `${formatCounted(calls, 'call')}, ${formatCount(answeredHere)} answered here`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col" class="number">
            p50
          </th>
          <th scope="col" class="number">
            p95
          </th>
        </tr>
      </thead>
      <tbody>
        <Time name="Own" latency={ownMs} />
        <Time name="With the later stages" latency={totalMs} />
        {backend !== undefined && <Time name="A call to VictoriaLogs" latency={backend.ms} />}
      </tbody>
    </table>
  );
}

function Time({
  name,
  latency,
}: {
  readonly name: string;
  readonly latency: Latency | undefined;
}): JSX.Element {
  const text = (ms: number | undefined): string => (ms === undefined ? '–' : `${formatMs(ms)} ms`);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{text(latency?.p50)}</td>
      <td class="number">{text(latency?.p95)}</td>
    </tr>
  );
}

/** Options that differ from their default, and the others behind a fold. */
export function Options({ options }: Pick<PartDescription, 'options'>): JSX.Element {
  const { changed, others } = sortOptions(options);
  if (options.length === 0) return <p class="quiet">It has no options.</p>;
  return (
    <>
      <h4>Set</h4>
      {changed.length === 0 ? <p class="quiet">None.</p> : <OptionTable options={changed} hasDefaults />}
      {others.length > 0 && (
        <details>
          <summary>
            {formatCounted(others.length, 'option')} at {others.length === 1 ? 'its' : 'their'} default
          </summary>
          <OptionTable options={others} />
        </details>
      )}
    </>
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

/** The current values of a part's metrics. */
export function Counters({ meters }: Pick<PartDescription, 'meters'>): JSX.Element {
  return (
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
  );
}
