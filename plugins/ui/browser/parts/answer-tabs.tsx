import type { ComponentChildren, JSX } from 'preact';
import { session, type Tab } from '../store/session.js';

/** The tabs of an answer or an error; the arrow keys move between them. The panel has the id `tab-panel`. */
export function AnswerTabs({
  tabs,
  shown,
}: {
  readonly tabs: readonly (readonly [name: Tab, title: ComponentChildren])[];
  readonly shown: Tab;
}): JSX.Element {
  const turn = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (step === 0) return;
    const at = tabs.findIndex(([name]) => name === shown);
    const [next = 'result'] = tabs[(at + step + tabs.length) % tabs.length] ?? [];
    session.showTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Answer" onKeyDown={turn}>
      {tabs.map(([name, title]) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={shown === name}
          aria-controls="tab-panel"
          tabIndex={shown === name ? 0 : -1}
          onClick={() => session.showTab(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
