import type { ComponentChildren, JSX } from 'preact';
import type { CallFigures, PartDescription, SectionDescription } from '../../model/wire.js';
import { pipelinePlaces } from '../../store/pipeline-place.js';
import { useStore } from '../../store/store.js';
import { Icon } from '../icons.js';
import { PartPanel } from './part-panel.js';
import { useWide } from './use-wide.js';

type Part = PartDescription | SectionDescription;

/** The name by which a part is opened. */
export function partName(part: Part): string {
  return 'id' in part ? part.id : part.name;
}

/** True if a part is open, and true if its panel belongs below it. */
export function useOpen(part: Part): { readonly isOpen: boolean; readonly isBelow: boolean } {
  const isOpen = useStore(pipelinePlaces.store, (place) => place.part === partName(part));
  return { isOpen, isBelow: !useWide() };
}

/** The name of a part as a button that opens its panel. */
export function PartButton({ part, isOpen }: { readonly part: Part; readonly isOpen: boolean }): JSX.Element {
  const name = partName(part);
  return (
    <button
      type="button"
      id={`open-${name}`}
      aria-expanded={isOpen}
      onClick={() => pipelinePlaces.toggle(name)}
    >
      <Icon name="chevron" />
      {name}
    </button>
  );
}

/** The panel of a part. Closing it leads back to the button that opened it. */
export function OpenPart({
  part,
  backend,
}: {
  readonly part: Part;
  readonly backend: CallFigures | undefined;
}): JSX.Element {
  const name = partName(part);
  return (
    <PartPanel
      part={part}
      backend={part.name === 'backend' ? backend : undefined}
      onClose={() => {
        pipelinePlaces.toggle(name);
        document.getElementById(`open-${name}`)?.focus();
      }}
    />
  );
}

/** A list of parts, with the panel of the open one at its side where there is room. */
export function WithPanel({
  parts,
  backend,
  children,
}: {
  readonly parts: readonly Part[];
  readonly backend: CallFigures | undefined;
  readonly children: ComponentChildren;
}): JSX.Element {
  const name = useStore(pipelinePlaces.store, (place) => place.part);
  const isWide = useWide();
  const open = isWide ? parts.find((part) => partName(part) === name) : undefined;
  return (
    <div class={open === undefined ? 'with-panel' : 'with-panel is-open'}>
      <div class="with-panel-list">{children}</div>
      {open !== undefined && (
        <aside class="side-panel" aria-label="Details">
          <OpenPart part={open} backend={backend} />
        </aside>
      )}
    </div>
  );
}
