import type { JSX } from 'preact';
import { Icon, type IconName } from './icons.js';

interface Properties {
  readonly icon: IconName;
  /** The name for screen readers, which the pointer shows too, unless there is another title. */
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
export function IconButton({ icon, name, title, look = '', isOn, isOpen, onClick }: Properties): JSX.Element {
  return (
    <button
      type="button"
      class={`button is-bare ${isOn === true ? 'is-on' : ''} ${look}`}
      // A title beside a name is read out too, so one text is only given once.
      aria-label={title === undefined ? undefined : name}
      title={title ?? name}
      aria-pressed={isOn}
      aria-haspopup={isOpen === undefined ? undefined : 'menu'}
      aria-expanded={isOpen}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
