import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon, type IconName } from '../icons.js';

interface Properties {
  /** The name of the panel and, with `caption`, of its button. */
  readonly title: string;
  readonly icon: IconName;
  readonly caption: ComponentChildren;
  /** True if the caption says all of the title, which then need not be said twice. */
  readonly isTold?: boolean;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
  /** Further classes of the button. */
  readonly look?: string;
  /** The side of the button with which the panel is aligned. */
  readonly side?: 'left' | 'right';
  readonly children: ComponentChildren;
}

/** A button with a panel below it. Escape, a click elsewhere, and leaving it by the keyboard close the panel. */
export function Popover({
  title,
  icon,
  caption,
  isTold = false,
  isOpen,
  onToggle,
  look = 'is-quiet',
  side = 'left',
  children,
}: Properties): JSX.Element {
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) onToggle(false);
    };
    addEventListener('pointerdown', close);
    addEventListener('focusin', close);
    return () => {
      removeEventListener('pointerdown', close);
      removeEventListener('focusin', close);
    };
  }, [isOpen]);
  return (
    <div
      ref={root}
      class={`popover is-${side}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        event.stopPropagation();
        onToggle(false);
        button.current?.focus();
      }}
    >
      <button
        ref={button}
        type="button"
        class={isOpen ? `button ${look} is-open` : `button ${look}`}
        title={isTold ? undefined : title}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => onToggle(!isOpen)}
      >
        <Icon name={icon} />
        {caption}
      </button>
      {isOpen && (
        <div id={id} class="popover-panel" role="group" aria-label={title}>
          {children}
        </div>
      )}
    </div>
  );
}
