import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { IconButton } from './icon-button.js';

/** A modal dialog, or a sheet at the edge of the window. The browser traps the focus in it; Escape and a click outside close it. */
export function Dialog({
  title,
  kind = 'dialog',
  onClose,
  children,
}: {
  readonly title: string;
  readonly kind?: 'dialog' | 'sheet';
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={kind === 'sheet' ? 'dialog sheet' : 'dialog'}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2>{title}</h2>
          <IconButton icon="close" name="Close" onClick={onClose} />
        </div>
        {children}
      </div>
    </dialog>
  );
}
