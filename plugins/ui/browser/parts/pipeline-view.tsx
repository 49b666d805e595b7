import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { formatAge } from '../model/format.js';
import type { PipelineTab } from '../model/pipeline-place.js';
import type { LoadedPipeline } from '../model/wire.js';
import { pipelinePlaces } from '../store/pipeline-place.js';
import { useStore } from '../store/store.js';
import { AskedQueriesSection } from './pipeline/asked-queries.js';
import { MirrorView } from './pipeline/mirror-view.js';
import { SettingsList } from './pipeline/settings-list.js';
import { StagesWay } from './pipeline/stages-way.js';
import { partName } from './pipeline/with-panel.js';
import { TabBar, type TabTitles } from './tab-bar.js';

const tabs: TabTitles<PipelineTab> = [
  ['stages', 'Stages'],
  ['queries', 'Queries'],
  ['settings', 'Settings'],
  ['mirror', 'Mirror'],
];

/** The pipeline as loaded, in tabs: the way of a request, the queries of clients, the rest of the file, and the mirror. */
export function PipelineView({ pipeline }: { readonly pipeline: LoadedPipeline }): JSX.Element {
  const tab = useTab(pipeline);
  return (
    <div class="pipeline">
      <div class="pipeline-head">
        <h2 class="visually-hidden">Pipeline</h2>
        <TabBar
          id="pipeline"
          label="Pipeline"
          tabs={tabs}
          chosen={tab}
          onChoose={(name) => pipelinePlaces.showTab(name)}
        />
        <p class="quiet">
          <code title={pipeline.file}>{pipeline.file.split('/').slice(-2).join('/')}</code>, up{' '}
          {formatAge(pipeline.nowMs - pipeline.startedMs)}
        </p>
      </div>
      <div id="pipeline-panel" class="pipeline-body" role="tabpanel" aria-labelledby={`pipeline-${tab}`}>
        {tab === 'stages' && <StagesWay pipeline={pipeline} />}
        {tab === 'queries' && <AskedQueriesSection />}
        {tab === 'settings' && <SettingsList pipeline={pipeline} />}
        {tab === 'mirror' && <MirrorView pipeline={pipeline} />}
      </div>
    </div>
  );
}

/** The open tab. A link to a part of the pipeline other than a stage opens the settings. */
function useTab({ endpoints, services, sections }: LoadedPipeline): PipelineTab {
  const { tab, part } = useStore(pipelinePlaces.store, (place) => place);
  useEffect(() => pipelinePlaces.enter(), []);
  const isSetting = [...endpoints, ...services, ...sections].some((one) => partName(one) === part);
  return tab === 'stages' && isSetting ? 'settings' : tab;
}
