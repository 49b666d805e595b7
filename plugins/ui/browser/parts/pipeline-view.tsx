import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatAge, formatCount, formatMs, sentence } from '../model/format.js';
import { glossary } from '../model/glossary.js';
import { cacheFigures, isEnabled, sortOptions } from '../model/options.js';
import type { BackendFigures, LoadedPipeline, PartDescription, SectionDescription } from '../model/wire.js';
import { AskedQueriesSection } from './asked-queries.js';
import { Icon } from './icons.js';
import { PartDetails } from './part-details.js';

/** The pipeline as loaded: its stages in the order of a request, and the rest of the file. Items expand in place. */
export function PipelineView({ pipeline }: { readonly pipeline: LoadedPipeline }): JSX.Element {
  const { stages, endpoints, services, sections, backend } = pipeline;
  const slowest = Math.max(0, ...stages.map(({ figures }) => figures?.ownMs?.p50 ?? 0));
  return (
    <div class="pipeline">
      <section aria-labelledby="stages-title">
        <div class="section-head">
          <h2 id="stages-title">Pipeline</h2>
          <p class="quiet">
            A request passes the stages from top to bottom, and its answer comes back up.{' '}
            <code title={pipeline.file}>{pipeline.file.split('/').slice(-2).join('/')}</code>, up{' '}
            {formatAge(pipeline.nowMs - pipeline.startedMs)}.
          </p>
        </div>
        <div class="stage-head" aria-hidden="true">
          <span>Stage</span>
          <span class="number">Calls</span>
          <span class="number">Errors</span>
          <span class="number">p50</span>
          <span class="number">p95</span>
        </div>
        <ol class="stages panel">
          {stages.map((stage) => (
            <Stage
              key={stage.id}
              stage={stage}
              slowest={slowest}
              backend={stage.name === 'backend' ? backend : undefined}
            />
          ))}
        </ol>
        <p class="quiet stage-note">
          Calls and errors since the start; errors where they began. p50 and p95: half, and 95 of 100, of the
          last 1,024 calls took no longer. A stage’s time is its own: waiting for VictoriaLogs counts for{' '}
          <b>backend</b>, the time of other stages for them.
        </p>
      </section>
      <AskedQueriesSection />
      <Group
        title="Endpoints"
        text="What the proxy answers: each serves routes over HTTP, and most ask the stages above."
        parts={endpoints}
      />
      <Group title="Services" text="What runs beside requests." parts={services} />
      <Group title="Settings" text="The other sections of the pipeline file." parts={sections} />
    </div>
  );
}

function Stage({
  stage,
  slowest,
  backend,
}: {
  readonly stage: PartDescription;
  readonly slowest: number;
  readonly backend: BackendFigures | undefined;
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { figures } = stage;
  const isOn = isEnabled(stage);
  const cache = cacheFigures(stage);
  const changed = sortOptions(stage.options).changed.length;
  const share = slowest > 0 ? (figures?.ownMs?.p50 ?? 0) / slowest : 0;
  const id = `stage-${stage.id}`;
  return (
    <li class={isOn ? 'stage' : 'stage is-off'}>
      <div class="stage-line">
        <h3 class="stage-name">
          <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
            <Icon name="chevron" />
            {stage.id}
          </button>
        </h3>
        <p class="stage-summary">
          {isOn ? sentence(stage.summary) : 'Switched off: passes everything through.'}{' '}
          {glossary.get(stage.name) ?? ''}
          <span class="stage-facts">
            {cache !== undefined && cache.asked > 0 && (
              <span>
                {formatCount(cache.hits)} of {formatCount(cache.asked)} answers were kept ones
              </span>
            )}
            {backend !== undefined && (
              <span class={backend.errors > 0 ? 'is-bad' : ''}>
                {formatCount(backend.calls)} calls to VictoriaLogs, {formatCount(backend.errors)} failed
              </span>
            )}
            {changed > 0 && (
              <span>
                {changed} {changed === 1 ? 'option' : 'options'} set
              </span>
            )}
          </span>
        </p>
        <dl class="figures" aria-label={`Figures of ${stage.id}`}>
          <Figure name="Calls" value={formatCount(figures?.calls ?? 0)} />
          <Figure
            name="Errors"
            value={formatCount(figures?.errors ?? 0)}
            isBad={(figures?.errors ?? 0) > 0}
          />
          <Figure name="p50" value={timeText(figures?.ownMs?.p50)} share={share} />
          <Figure name="p95" value={timeText(figures?.ownMs?.p95)} />
        </dl>
      </div>
      <div id={id}>{isOpen && <PartDetails part={stage} backend={backend} />}</div>
    </li>
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
        {share !== undefined && (
          <svg class="share" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
            <rect width="100" height="3" />
            <rect class="fill" width={share * 100} height="3" />
          </svg>
        )}
      </dd>
    </div>
  );
}

function Group({
  title,
  text,
  parts,
}: {
  readonly title: string;
  readonly text: string;
  readonly parts: readonly (PartDescription | SectionDescription)[];
}): JSX.Element | null {
  if (parts.length === 0) return null;
  return (
    <section aria-label={title}>
      <div class="section-head">
        <h2>{title}</h2>
        <p class="quiet">{text}</p>
      </div>
      <ul class="stages panel">
        {parts.map((part) => (
          <Part key={'id' in part ? part.id : part.name} part={part} />
        ))}
      </ul>
    </section>
  );
}

function Part({ part }: { readonly part: PartDescription | SectionDescription }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const name = 'id' in part ? part.id : part.name;
  const id = `part-${name}`;
  return (
    <li class="stage">
      <div class="stage-line is-plain">
        <h3 class="stage-name">
          <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
            <Icon name="chevron" />
            {name}
          </button>
        </h3>
        <p class="stage-summary">{sentence(part.summary)}</p>
      </div>
      <div id={id}>{isOpen && <PartDetails part={part} backend={undefined} />}</div>
    </li>
  );
}

function timeText(ms: number | undefined): string {
  return ms === undefined ? '–' : `${formatMs(ms)} ms`;
}
