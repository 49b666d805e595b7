import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { sentence } from '../../model/format.js';
import { glossary } from '../../model/glossary.js';
import { isEnabled, sortOptions } from '../../model/options.js';
import { passingText } from '../../model/stage-way.js';
import type { CallFigures, PartDescription, SectionDescription } from '../../model/wire.js';
import { CopyButton } from '../copy-button.js';
import { IconButton } from '../icon-button.js';
import { TabBar, type TabTitles } from '../tab-bar.js';
import { Counters, Options, Times } from './part-details.js';

type PanelTab = 'overview' | 'options' | 'metrics' | 'docs';

interface Properties {
  readonly part: PartDescription | SectionDescription;
  /** Set for the stage that calls the backend. */
  readonly backend: CallFigures | undefined;
  readonly onClose: () => void;
}

/** Everything about one part of the pipeline, in tabs: its work, its options, its counters, and where it is documented. */
export function PartPanel({ part, backend, onClose }: Properties): JSX.Element {
  const [chosen, choose] = useState<PanelTab>('overview');
  const placed = 'id' in part ? part : undefined;
  const name = placed?.id ?? part.name;
  const changed = sortOptions(part.options).changed.length;
  const tabs: TabTitles<PanelTab> = [
    ['overview', 'Overview'],
    ['options', changed === 0 ? 'Options' : `Options (${changed} set)`],
    ...(placed !== undefined && placed.meters.length > 0 ? [['metrics', 'Metrics'] as const] : []),
    ['docs', 'Docs'],
  ];
  // The next part may have no metrics.
  const tab = tabs.some(([one]) => one === chosen) ? chosen : 'overview';
  return (
    <section
      class="details panel"
      aria-label={`About ${name}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <div class="details-head">
        <h3>{name}</h3>
        <CopyButton
          text={`${location.origin}${location.pathname}#view=pipeline&stage=${encodeURIComponent(name)}`}
          label={`Copy a link to ${name}`}
        />
        <IconButton icon="close" name={`Close ${name}`} onClick={onClose} />
      </div>
      <TabBar id="part" label={`About ${name}`} tabs={tabs} chosen={tab} onChoose={choose} />
      <div id="part-panel" class="details-body" role="tabpanel" aria-labelledby={`part-${tab}`} tabIndex={0}>
        {tab === 'overview' && <Overview part={part} backend={backend} />}
        {tab === 'options' && <Options options={part.options} />}
        {tab === 'metrics' && placed !== undefined && <Counters meters={placed.meters} />}
        {tab === 'docs' && <Docs part={part} />}
      </div>
    </section>
  );
}

function Overview({ part, backend }: Omit<Properties, 'onClose'>): JSX.Element {
  const placed = 'id' in part ? part : undefined;
  return (
    <>
      <p class="stage-summary">
        {sentence(part.summary)} {glossary.get(part.name) ?? ''}
      </p>
      {placed !== undefined && !isEnabled(placed) && <p>Switched off: it passes everything through.</p>}
      {placed?.passing !== undefined && (
        <dl class="facts">
          <div>
            <dt>Passes on</dt>
            <dd>{passingText(placed)}</dd>
          </div>
          <Slots name="Needs" slots={placed.passing.needs} />
          <Slots name="Provides" slots={placed.passing.gives} />
        </dl>
      )}
      {placed?.figures !== undefined && <Times figures={placed.figures} backend={backend} />}
      {placed !== undefined && (
        <dl class="facts">
          <div>
            <dt>Plugin</dt>
            <dd>
              <code>{placed.name}</code>
            </dd>
          </div>
          <div>
            <dt>In the file</dt>
            <dd>
              <code>{placed.at.split('/').slice(-2).join('/')}</code>
            </dd>
          </div>
        </dl>
      )}
    </>
  );
}

function Slots({
  name,
  slots,
}: {
  readonly name: string;
  readonly slots: readonly string[];
}): JSX.Element | null {
  if (slots.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {slots.map((slot) => (
          <code key={slot} class="tag">
            {slot}
          </code>
        ))}
      </dd>
    </div>
  );
}

function Docs({ part }: { readonly part: PartDescription | SectionDescription }): JSX.Element {
  const isPlugin = 'id' in part;
  const paths = isPlugin
    ? [`plugins/${part.name}/README.md`, `docs/flags.md#plugin-${part.name}`]
    : ['docs/pipeline.md', 'docs/flags.md'];
  return (
    <>
      <p>
        {isPlugin
          ? 'Pages of the documentation, if the plugin is a built-in one:'
          : 'Pages of the documentation:'}
      </p>
      <ul class="doc-paths">
        {paths.map((path) => (
          <li key={path}>
            <code>{path}</code> <CopyButton text={path} label={`Copy ${path}`} />
          </li>
        ))}
      </ul>
    </>
  );
}
