import type { JSX } from 'preact';
import { Icon, type IconName } from './icons.js';

interface Properties {
  readonly icon: IconName;
  /** The name for screen readers; the pointer shows it too, unless a title stands for it. */
  readonly name: string;
  readonly title?: string;
  /** Further classes. */
  readonly look?: string;
  /** A button that stays pressed. */
  readonly isOn?: boolean;
  /** A button that opens a menu. */
  readonly isOpen?: boolean;
  readonly onClick: () => void;
}

/** A button of an icon alone. */
export function IconButton({
  icon,
  name,
  title = name,
  look = '',
  isOn,
  isOpen,
  onClick,
}: Properties): JSX.Element {
  return (
    <button
      type="button"
      class={`button is-bare ${isOn === true ? 'is-on' : ''} ${look}`}
      aria-label={name}
      title={title}
      aria-pressed={isOn}
      aria-haspopup={isOpen === undefined ? undefined : 'menu'}
      aria-expanded={isOpen}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
