import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { mostColumns, type LabelColumn } from '../../model/lines/label-columns.js';
import { showColumn } from '../../store/columns.js';
import { session } from '../../store/session.js';
import { Icon } from '../icons.js';

/** The names of the columns, and how lines are shown. */
export function ListHead({
  names,
  columns,
  wraps,
}: {
  readonly names: readonly string[];
  readonly columns: readonly LabelColumn[];
  readonly wraps: boolean;
}): JSX.Element {
  return (
    <div class="log-head">
      <span>Time</span>
      <span>Level</span>
      {columns.map(({ name }) => (
        <span key={name} class="column-name" title={name}>
          {name}
        </span>
      ))}
      <span class="log-choices">
        <ColumnMenu names={names} columns={columns} />
        <button
          type="button"
          class={wraps ? 'button is-quiet is-on' : 'button is-quiet'}
          aria-pressed={wraps}
          title="Long lines continue in the next row"
          onClick={() => session.set({ wraps: !wraps })}
        >
          <Icon name="wrap" />
          <span>Wrap</span>
        </button>
      </span>
    </div>
  );
}

/** A menu of labels, each of which can be a column. Escape, and a click or stop elsewhere, close it. */
function ColumnMenu({
  names,
  columns,
}: {
  readonly names: readonly string[];
  readonly columns: readonly LabelColumn[];
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const shown = new Set(columns.map(({ name }) => name));
  const isFull = shown.size >= mostColumns;
  useEffect(() => {
    if (isOpen) menu.current?.querySelector('button')?.focus();
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <span
      class="column-menu"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && isOpen) close();
      }}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && currentTarget.contains(relatedTarget)) return;
        setOpen(false);
      }}
    >
      <button
        ref={button}
        type="button"
        class="button is-quiet"
        aria-expanded={isOpen}
        aria-controls="columns"
        title="Labels beside each line"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="labels" />
        <span>Columns</span>
      </button>
      <div
        ref={menu}
        id="columns"
        class="panel columns"
        role="group"
        aria-label="Columns"
        tabIndex={-1}
        hidden={!isOpen}
      >
        {isOpen &&
          names.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={shown.has(name)}
              disabled={isFull && !shown.has(name)}
              onClick={() => showColumn(name, !shown.has(name))}
            >
              <span aria-hidden="true">{shown.has(name) ? '✓' : ''}</span>
              {name}
            </button>
          ))}
        {isOpen && isFull && <p class="quiet">At most {mostColumns} columns.</p>}
      </div>
    </span>
  );
}
