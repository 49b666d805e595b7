import type { JSX } from 'preact';
import { formatCount, formatMs } from '../model/format.js';
import { cacheFigures, isEnabled, sortOptions } from '../model/options.js';
import type { BackendFigures, PartDescription } from '../model/wire.js';

interface Properties {
  readonly stage: PartDescription;
  readonly position: number;
  /** Given for the stage that calls the backend. */
  readonly backend: BackendFigures | undefined;
  /** The greatest usual time of a stage in milliseconds, which has the full bar. */
  readonly slowest: number;
  readonly isOpen: boolean;
  readonly controls: string;
  readonly onToggle: () => void;
}

/** One stage: what it does and how it does. The whole card opens its details. */
export function StageCard({
  stage,
  position,
  backend,
  slowest,
  isOpen,
  controls,
  onToggle,
}: Properties): JSX.Element {
  const { figures } = stage;
  const isOn = isEnabled(stage);
  const cache = cacheFigures(stage);
  const changed = sortOptions(stage.options).changed.length;
  const share = slowest > 0 ? (figures?.ownMs?.p50 ?? 0) / slowest : 0;
  return (
    <li class={isOn ? 'stage' : 'stage is-off'}>
      <h3 class="stage-name">
        <button type="button" aria-expanded={isOpen} aria-controls={controls} onClick={onToggle}>
          {stage.id}
        </button>
      </h3>
      <p class="stage-summary">{isOn ? stage.summary : 'Switched off: passes everything through.'}</p>
      <dl class="figures" aria-label={`Figures of stage ${position}, ${stage.id}`}>
        <Figure name="Calls" value={formatCount(figures?.calls ?? 0)} />
        <Figure name="Errors" value={formatCount(figures?.errors ?? 0)} isBad={(figures?.errors ?? 0) > 0} />
        <Figure name="p50" value={timeText(figures?.ownMs?.p50)} unit="ms" />
        <Figure name="p95" value={timeText(figures?.ownMs?.p95)} unit="ms" />
        {cache !== undefined && <Figure name="Hits" value={hitText(cache)} />}
        {backend !== undefined && (
          <Figure name="Asked" value={formatCount(backend.calls)} isBad={backend.errors > 0} />
        )}
      </dl>
      <svg class="share" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="3" />
        <rect class="fill" width={share * 100} height="3" />
      </svg>
      <p class="stage-options">
        {changed === 0 ? 'all defaults' : `${changed} ${changed === 1 ? 'option' : 'options'} set`}
      </p>
    </li>
  );
}

function Figure({
  name,
  value,
  unit,
  isBad = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly unit?: string;
  readonly isBad?: boolean;
}): JSX.Element {
  return (
    <div class={`figure${isBad ? ' is-bad' : ''}${value === '0' || value === '–' ? ' is-nil' : ''}`}>
      <dt>{name}</dt>
      <dd>
        {value}
        {unit !== undefined && value !== '–' && <span class="unit"> {unit}</span>}
      </dd>
    </div>
  );
}

function timeText(ms: number | undefined): string {
  return ms === undefined ? '–' : formatMs(ms);
}

function hitText({ hits, asked }: { readonly hits: number; readonly asked: number }): string {
  return asked === 0 ? '0' : `${formatCount(hits)} of ${formatCount(asked)}`;
}
