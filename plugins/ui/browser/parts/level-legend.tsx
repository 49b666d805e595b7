import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount } from '../model/format.js';
import { hiddenBeside } from '../model/histogram.js';
import { levelValues, type Level } from '../model/levels.js';
import { session } from '../store/session.js';
import { IconButton } from './icon-button.js';

interface Properties {
  readonly totals: readonly (readonly [Level, number])[];
  readonly hidden: ReadonlySet<Level>;
  readonly onHide: (hidden: ReadonlySet<Level>) => void;
}

/** The levels of the lines. A click shows one alone, with Shift it asks for it alone; the menu of a level has the rest. */
export function LevelLegend({ totals, hidden, onHide }: Properties): JSX.Element {
  const [menu, openMenu] = useState<Level>();
  const levels = totals.map(([level]) => level);
  return (
    <ul class="legend" aria-label="Lines by level">
      {totals.map(([level, count]) => {
        const isHidden = hidden.has(level);
        const isAlone = !isHidden && levels.length > 1 && hidden.size === levels.length - 1;
        return (
          <li key={level} class={isHidden ? `level-${level} is-hidden` : `level-${level}`}>
            <button
              type="button"
              class="legend-level"
              aria-pressed={isAlone}
              title={isAlone ? 'Show all levels' : `Show only ${level}; with Shift, ask for it only`}
              onClick={(event) => {
                if (event.shiftKey) filterLevel('keep', level);
                else onHide(hiddenBeside(levels, hidden, level));
              }}
            >
              <span class={isHidden ? 'swatch is-void' : 'swatch'} /> {level}{' '}
              <span class="number">{formatCount(count)}</span>
            </button>
            <IconButton
              icon="more"
              name={`More for ${level}`}
              look="legend-more"
              isOpen={menu === level}
              onClick={() => openMenu(menu === level ? undefined : level)}
            />
            {menu === level && (
              <LevelMenu
                level={level}
                isHidden={isHidden}
                onHide={() => onHide(toggled(hidden, level))}
                onClose={() => openMenu(undefined)}
              />
            )}
          </li>
        );
      })}
    </ul>
  );
}

function LevelMenu({
  level,
  isHidden,
  onHide,
  onClose,
}: {
  readonly level: Level;
  readonly isHidden: boolean;
  readonly onHide: () => void;
  readonly onClose: () => void;
}): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.querySelector('button')?.focus();
    const outside = (event: PointerEvent): void => {
      if (event.target instanceof Node && element.current?.parentElement?.contains(event.target) === true)
        return;
      onClose();
    };
    addEventListener('pointerdown', outside);
    return () => {
      removeEventListener('pointerdown', outside);
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const items: readonly (readonly [string, () => void])[] = [
    [isHidden ? `Show ${level}` : `Hide ${level}`, onHide],
    [`Query only ${level}`, () => filterLevel('keep', level)],
    [`Query without ${level}`, () => filterLevel('drop', level)],
  ];
  return (
    <div
      ref={element}
      class="legend-menu"
      role="menu"
      aria-label={level}
      onKeyDown={(event) => moved(event, onClose)}
    >
      {items.map(([text, act]) => (
        <button
          key={text}
          type="button"
          role="menuitem"
          onClick={() => {
            act();
            onClose();
          }}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

function moved(event: KeyboardEvent, onClose: () => void): void {
  if (event.key === 'Escape' || event.key === 'Tab') {
    if (event.key === 'Escape') event.preventDefault();
    onClose();
    return;
  }
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0 || !(event.currentTarget instanceof HTMLElement)) return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll('button')];
  const at = items.findIndex((item) => item === document.activeElement);
  items[(at + step + items.length) % items.length]?.focus();
}

function toggled(hidden: ReadonlySet<Level>, level: Level): ReadonlySet<Level> {
  const next = new Set(hidden);
  if (!next.delete(level)) next.add(level);
  return next;
}

/** Makes a level a filter of the query. */
function filterLevel(change: 'keep' | 'drop', level: Level): void {
  void session.change({ change, name: 'detected_level', value: levelValues(level), of: 'row' });
}
