import { useEffect } from 'preact/hooks';
import { actionOf, type ShortcutAction } from './model/query/shortcuts.js';

/** Time within which the second key must follow the first one. */
const withinMs = 1_500;

/** Calls back for the keys of the page, except while someone types, a dialog is open, or a modifier is held. */
export function useShortcuts(act: (action: ShortcutAction) => void, isActive: boolean): void {
  useEffect(() => {
    if (!isActive) return undefined;
    let [before, beforeMs] = ['', 0];
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
        return;
      if (isTyping(event) || document.querySelector('dialog[open]') !== null) return;
      const action = actionOf(event.key, event.timeStamp - beforeMs < withinMs ? before : '');
      [before, beforeMs] = [action === undefined ? event.key : '', event.timeStamp];
      if (action === undefined) return;
      event.preventDefault();
      act(action);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [act, isActive]);
}

/** True for keys of a field; the editor is in a shadow tree, so the first element of the path counts. */
function isTyping(event: KeyboardEvent): boolean {
  return event
    .composedPath()
    .some(
      (place) =>
        place instanceof HTMLElement && (place.isContentEditable || place.matches('input, select, textarea')),
    );
}
