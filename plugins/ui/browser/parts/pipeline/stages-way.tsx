import type { JSX } from 'preact';
import { formatShare } from '../../model/figures.js';
import { formatCount, formatCounted, formatMs } from '../../model/format.js';
import { sortOptions } from '../../model/options.js';
import { routesOnWay, stagesOnWay, type StageOnWay } from '../../model/stage-way.js';
import type { LoadedPipeline, RouteFigures } from '../../model/wire.js';
import { ShareBar } from './share-bar.js';
import { OpenPart, PartButton, useOpen, WithPanel } from './with-panel.js';

/** The way of a request: the routes by which it arrives, and the stages in their order with figures at the arrows between them. */
export function StagesWay({ pipeline }: { readonly pipeline: LoadedPipeline }): JSX.Element {
  const { stages, backend, routes } = pipeline;
  return (
    <WithPanel parts={stages} backend={backend}>
      <div class="stage-head" aria-hidden="true">
        <span>Stage</span>
        <span class="number">Calls</span>
        <span class="number">Errors</span>
        <span class="number">p50</span>
        <span class="number">p95</span>
      </div>
      <ol class="way panel" aria-label="The way of a request">
        <Arrivals routes={routesOnWay(routes)} />
        {stagesOnWay(pipeline).map((place) => (
          <Stage key={place.stage.id} place={place} />
        ))}
        <li class="way-end quiet">The answer goes back up through the same stages.</li>
      </ol>
      <details class="stage-note fold">
        <summary>How to read the figures</summary>
        <p class="quiet">
          Calls and errors since the start; an error counts in the stage where it began. p50 and p95 are times
          that half, and 95 of 100, of the last 1,024 calls did not exceed. A stage’s time is its own: waiting
          for VictoriaLogs counts for <b>backend</b>, time in other stages for them.
        </p>
      </details>
    </WithPanel>
  );
}

/** Number of routes that are always in sight. */
const shownRoutes = 5;

function Arrivals({ routes }: { readonly routes: readonly RouteFigures[] }): JSX.Element {
  const others = routes.slice(shownRoutes);
  return (
    <li class="way-start">
      <h3>Requests</h3>
      {routes.length === 0 ? (
        <p class="quiet">None yet.</p>
      ) : (
        <>
          <Routes routes={routes.slice(0, shownRoutes)} />
          {others.length > 0 && (
            <details class="fold">
              <summary>{formatCounted(others.length, 'more route')}</summary>
              <Routes routes={others} />
            </details>
          )}
        </>
      )}
    </li>
  );
}

function Routes({ routes }: { readonly routes: readonly RouteFigures[] }): JSX.Element {
  return (
    <ul class="routes">
      {routes.map(({ route, calls, errors, ms }) => (
        <li key={route}>
          <code>{route}</code> <b>{formatCount(calls)}</b>
          {ms !== undefined && <span class="quiet">, p95 {formatMs(ms.p95)} ms</span>}
          {errors > 0 && <span class="is-bad">, {formatCounted(errors, 'error')}</span>}
        </li>
      ))}
    </ul>
  );
}

function Stage({ place }: { readonly place: StageOnWay }): JSX.Element {
  const { stage, isOn, calls, errors, share, backend } = place;
  const { isOpen, isBelow } = useOpen(stage);
  const { ownMs } = stage.figures ?? {};
  return (
    <li class={`way-stage${isOn ? '' : ' is-off'}${isOpen ? ' is-open' : ''}`}>
      <Arrow place={place} />
      <div class="stage-line">
        <h3 class="stage-name">
          <PartButton part={stage} isOpen={isOpen} />
        </h3>
        <Facts place={place} />
        <dl class="figures" aria-label={`Figures of ${stage.id}`}>
          <Figure name="Calls" value={formatCount(calls)} />
          <Figure name="Errors" value={formatCount(errors)} isBad={errors > 0} />
          <Figure name="p50" value={timeText(ownMs?.p50)} share={share} />
          <Figure name="p95" value={timeText(ownMs?.p95)} />
        </dl>
      </div>
      {isOpen && isBelow && <OpenPart part={stage} backend={backend} />}
    </li>
  );
}

/** The arrow into a stage, as a line whose end is the stage's dot. */
function Arrow({ place: { isOn, calls } }: { readonly place: StageOnWay }): JSX.Element {
  return (
    <svg
      class={isOn && calls > 0 ? 'way-arrow' : 'way-arrow is-still'}
      viewBox="0 0 16 40"
      aria-hidden="true"
    >
      <path d="M8 0v15M4.5 11 8 15l3.5-4" />
      <circle cx="8" cy="21" r="4" />
      <path d="M8 26v14" />
    </svg>
  );
}

function Facts({ place }: { readonly place: StageOnWay }): JSX.Element {
  const { stage, isOn, cache, calls, answeredHere, backend } = place;
  const changed = sortOptions(stage.options).changed.length;
  const isLast = stage.passing?.rest === 'never';
  return (
    <ul class="stage-facts">
      {!isOn && <li>off</li>}
      {stage.name !== stage.id && (
        <li>
          plugin <code>{stage.name}</code>
        </li>
      )}
      {cache !== undefined ? (
        <li>
          <ShareBar share={cache.hits / cache.asked} /> {formatShare(cache.hits, cache.asked)} hits
        </li>
      ) : (
        answeredHere > 0 &&
        !isLast && (
          <li>
            <ShareBar share={answeredHere / calls} /> {formatShare(answeredHere, calls)} answered here
          </li>
        )
      )}
      {backend !== undefined && backend.calls > 0 && (
        <li class={backend.errors > 0 ? 'is-bad' : ''}>
          {formatCounted(backend.calls, 'call')} to VictoriaLogs
          {backend.errors > 0 && `, ${formatCount(backend.errors)} failed`}
        </li>
      )}
      {changed > 0 && (
        <li>
          {changed} {changed === 1 ? 'option' : 'options'} set
        </li>
      )}
    </ul>
  );
}

function Figure({
  name,
  value,
  isBad = false,
  share,
}: {
  readonly name: string;
  readonly value: string;
  readonly isBad?: boolean;
  /** Share of the slowest stage's time. */
  readonly share?: number;
}): JSX.Element {
  return (
    <div class={`figure${isBad ? ' is-bad' : ''}${value === '0' || value === '–' ? ' is-nil' : ''}`}>
      <dt>{name}</dt>
      <dd>
        {value}
        {share !== undefined && <ShareBar share={share} />}
      </dd>
    </div>
  );
}

function timeText(ms: number | undefined): string {
  return ms === undefined ? '–' : `${formatMs(ms)} ms`;
}
