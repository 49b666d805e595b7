import type { ComponentChildren, JSX } from 'preact';

/** Tabs by name, with their titles. */
export type TabTitles<Name extends string> = readonly (readonly [name: Name, title: ComponentChildren])[];

interface Properties<Name extends string> {
  /** Start of the ids of tabs, and of their panel: `ID-panel`. */
  readonly id: string;
  readonly label: string;
  readonly tabs: TabTitles<Name>;
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

/** A row of tabs. Arrow keys, Home and End move between them. */
export function TabBar<Name extends string>({
  id,
  label,
  tabs,
  chosen,
  onChoose,
}: Properties<Name>): JSX.Element {
  const turn = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(([name]) => name === chosen);
    const next = nextTab(event.key, at, tabs.length);
    const name = next === undefined ? undefined : tabs[next]?.[0];
    if (name === undefined) return;
    event.preventDefault();
    onChoose(name);
    document.getElementById(`${id}-${name}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={turn}>
      {tabs.map(([name, title]) => (
        <button
          key={name}
          id={`${id}-${name}`}
          type="button"
          role="tab"
          aria-selected={chosen === name}
          aria-controls={`${id}-panel`}
          tabIndex={chosen === name ? 0 : -1}
          onClick={() => onChoose(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

function nextTab(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowLeft':
      return (at + count - 1) % count;
    case 'ArrowRight':
      return (at + 1) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
