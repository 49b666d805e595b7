import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { LoadedPipeline, PartDescription, SectionDescription } from '../model/wire.js';
import { PartDetails } from './part-details.js';
import { StageCard } from './stage-card.js';

const detailsId = 'part-details';

/** The stages in the order of a request, the rest of the pipeline under them, and the details of what is chosen. */
export function Chain({ pipeline }: { readonly pipeline: LoadedPipeline }): JSX.Element {
  const [chosen, setChosen] = useState<string>();
  const { stages, endpoints, services, sections } = pipeline;
  const slowest = Math.max(0, ...stages.map(({ figures }) => figures?.ownMs?.p50 ?? 0));
  const toggle = (key: string): void => setChosen((before) => (before === key ? undefined : key));
  const groups = [
    { title: 'Endpoints', parts: endpoints.map((part) => named('endpoint', part.id, part)) },
    { title: 'Services', parts: services.map((part) => named('service', part.id, part)) },
    { title: 'Settings', parts: sections.map((part) => named('section', part.name, part)) },
  ].filter(({ parts }) => parts.length > 0);
  const all = [
    ...stages.map((part) => named('stage', part.id, part)),
    ...groups.flatMap(({ parts }) => parts),
  ];
  const shown = all.find(({ key }) => key === chosen);
  return (
    <section class="chain" aria-labelledby="chain-title">
      <div class="section-head">
        <h2 id="chain-title">Pipeline</h2>
        <p class="quiet">
          A request passes the stages in this order, its answer comes back up. p50 and p95 are a stage’s own
          time.
        </p>
      </div>
      <ol class="stages">
        {stages.map((stage, index) => (
          <StageCard
            key={stage.id}
            stage={stage}
            position={index + 1}
            backend={stage.name === 'backend' ? pipeline.backend : undefined}
            slowest={slowest}
            isOpen={chosen === `stage:${stage.id}`}
            controls={detailsId}
            onToggle={() => toggle(`stage:${stage.id}`)}
          />
        ))}
      </ol>
      <dl class="beside">
        {groups.map(({ title, parts }) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>
              {parts.map(({ key, label }) => (
                <button
                  key={key}
                  type="button"
                  class="chip"
                  aria-expanded={chosen === key}
                  aria-controls={detailsId}
                  onClick={() => toggle(key)}
                >
                  {label}
                </button>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <div id={detailsId}>
        {shown !== undefined && (
          <PartDetails
            key={shown.key}
            label={shown.label}
            part={shown.part}
            backend={shown.part.name === 'backend' ? pipeline.backend : undefined}
            onClose={() => setChosen(undefined)}
          />
        )}
      </div>
    </section>
  );
}

interface Named {
  readonly key: string;
  readonly label: string;
  readonly part: PartDescription | SectionDescription;
}

function named(kind: string, label: string, part: PartDescription | SectionDescription): Named {
  return { key: `${kind}:${label}`, label, part };
}
