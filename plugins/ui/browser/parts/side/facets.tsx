import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatCount } from '../../model/format.js';
import { Icon } from '../icons.js';

/** Maximum number of names or values listed at once; the search finds the others. */
const mostListed = 200;

/** Names that a text is searched in, each of which opens to its values. Arrow keys move over them. */
export function Facets<Item>({
  title,
  items,
  nameOf,
  nothing,
  head,
  children,
}: {
  /** The plural of the names: `fields`. */
  readonly title: string;
  readonly items: readonly Item[];
  readonly nameOf: (item: Item) => string;
  readonly nothing: string;
  /** Shown beside a name. */
  readonly head: (item: Item) => ComponentChildren;
  /** The values of an open name. */
  readonly children: (item: Item) => ComponentChildren;
}): JSX.Element {
  const [search, setSearch] = useState('');
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const found = items.filter((item) => nameOf(item).toLowerCase().includes(search.toLowerCase()));
  const toggle = (name: string): void =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  return (
    <>
      <SearchField title={title} count={items.length} text={search} onText={setSearch} />
      {found.length === 0 && (
        <p class="side-note">{items.length === 0 ? nothing : `No ${title} have this text.`}</p>
      )}
      <ul class="facets" aria-label={title} onKeyDown={moveOver}>
        {found.slice(0, mostListed).map((item) => {
          const name = nameOf(item);
          return (
            <li key={name}>
              <button type="button" class="facet" aria-expanded={open.has(name)} onClick={() => toggle(name)}>
                <Icon name="chevron" />
                <span class="facet-name">{name}</span>
                {head(item)}
              </button>
              {open.has(name) && children(item)}
            </li>
          );
        })}
      </ul>
      <Rest shown={mostListed} of={found.length} />
    </>
  );
}

/** Says how many are not listed. */
export function Rest({ shown, of }: { readonly shown: number; readonly of: number }): JSX.Element | null {
  if (of <= shown) return null;
  return (
    <p class="side-note">
      {formatCount(shown)} of {formatCount(of)} are listed. Search to find others.
    </p>
  );
}

export function SearchField({
  title,
  count,
  text,
  onText,
}: {
  readonly title: string;
  readonly count: number;
  readonly text: string;
  readonly onText: (text: string) => void;
}): JSX.Element {
  return (
    <label class="search">
      <Icon name="search" />
      <span class="visually-hidden">Search in {title}</span>
      <input
        type="search"
        placeholder={`Search ${formatCount(count)} ${title}`}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </label>
  );
}

/** Up and Down move the focus over the buttons of a list. */
function moveOver(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0 || !(event.currentTarget instanceof HTMLElement)) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('.facet, .value-pick')];
  const at = stops.findIndex((stop) => stop === document.activeElement);
  const next = at === -1 ? undefined : stops[at + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

/** The length of a value's bar, as a part of the greatest. */
export function ValueBar({ part }: { readonly part: number }): JSX.Element {
  return (
    <span class="value-bar" aria-hidden="true">
      <span style={{ width: `${Math.max(1, Math.round(part * 100))}%` }} />
    </span>
  );
}
