import type { JSX } from 'preact';
import { formatCount, formatMs, sentence } from '../../model/format.js';
import type { CallFigures, LoadedPipeline, PartDescription, SectionDescription } from '../../model/wire.js';
import { OpenPart, PartButton, partName, useOpen, WithPanel } from './with-panel.js';

/** The backend, and the parts of the pipeline file besides its stages. */
export function SettingsList({ pipeline }: { readonly pipeline: LoadedPipeline }): JSX.Element {
  const { endpoints, services, sections, backend } = pipeline;
  return (
    <WithPanel parts={[...endpoints, ...services, ...sections]} backend={undefined}>
      <Backend backend={backend} />
      <Group title="Endpoints" text="Serve routes over HTTP; most ask the stages." parts={endpoints} />
      <Group title="Services" text="Run beside requests." parts={services} />
      <Group title="Sections" text="The other parts of the pipeline file." parts={sections} />
    </WithPanel>
  );
}

function Backend({ backend: { calls, errors, ms } }: { readonly backend: CallFigures }): JSX.Element {
  return (
    <section aria-label="VictoriaLogs">
      <div class="section-head">
        <h2>VictoriaLogs</h2>
        <p class="quiet">Calls since the start.</p>
      </div>
      <dl class="panel backend-figures">
        <div>
          <dt>Calls</dt>
          <dd>{formatCount(calls)}</dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd class={errors > 0 ? 'is-bad' : ''}>{formatCount(errors)}</dd>
        </div>
        <div>
          <dt>p50</dt>
          <dd>{ms === undefined ? '–' : `${formatMs(ms.p50)} ms`}</dd>
        </div>
        <div>
          <dt>p95</dt>
          <dd>{ms === undefined ? '–' : `${formatMs(ms.p95)} ms`}</dd>
        </div>
      </dl>
    </section>
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
      <ul class="parts panel">
        {parts.map((part) => (
          <Part key={partName(part)} part={part} />
        ))}
      </ul>
    </section>
  );
}

function Part({ part }: { readonly part: PartDescription | SectionDescription }): JSX.Element {
  const { isOpen, isBelow } = useOpen(part);
  return (
    <li class={isOpen ? 'part is-open' : 'part'}>
      <div class="stage-line is-plain">
        <h3 class="stage-name">
          <PartButton part={part} isOpen={isOpen} />
        </h3>
        <p class="stage-summary">{sentence(part.summary)}</p>
      </div>
      {isOpen && isBelow && <OpenPart part={part} backend={undefined} />}
    </li>
  );
}
