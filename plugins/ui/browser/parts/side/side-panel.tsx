import type { JSX } from 'preact';
import { panelTabs, type PanelTab } from '../../model/layout.js';
import { layout } from '../../store/layout.js';
import { useStore } from '../../store/store.js';
import { useNarrow } from '../../use-narrow.js';
import { Dialog } from '../dialog.js';
import { IconButton } from '../icon-button.js';
import { FieldsPanel } from './fields-panel.js';
import { LabelsPanel } from './labels-panel.js';

const titles: Readonly<Record<PanelTab, string>> = { fields: 'Fields', labels: 'Labels' };

/** Fields and labels beside the result; in a narrow window, a sheet over it. */
export function SidePanel(): JSX.Element | null {
  const isNarrow = useNarrow(1023);
  const { isOpen, isSheet } = useStore(layout.store, (state) => state);
  if (isNarrow)
    return isSheet ? (
      <Dialog title="Fields and labels" kind="sheet" onClose={() => layout.close()}>
        <Tabs />
      </Dialog>
    ) : null;
  if (!isOpen) return null;
  return (
    <aside class="side panel" aria-label="Fields and labels">
      <IconButton
        icon="close"
        name="Hide fields and labels"
        look="side-close"
        onClick={() => layout.close()}
      />
      <Tabs />
    </aside>
  );
}

function Tabs(): JSX.Element {
  const tab = useStore(layout.store, (state) => state.tab);
  const turn = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const other = tab === 'fields' ? 'labels' : 'fields';
    layout.set({ tab: other });
    document.getElementById(`side-tab-${other}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Side panel" onKeyDown={turn}>
        {panelTabs.map((name) => (
          <button
            key={name}
            id={`side-tab-${name}`}
            type="button"
            role="tab"
            aria-selected={tab === name}
            aria-controls="side-body"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => layout.set({ tab: name })}
          >
            {titles[name]}
          </button>
        ))}
      </div>
      <div id="side-body" class="side-body" role="tabpanel" aria-labelledby={`side-tab-${tab}`}>
        {tab === 'fields' ? <FieldsPanel /> : <LabelsPanel />}
      </div>
    </>
  );
}
