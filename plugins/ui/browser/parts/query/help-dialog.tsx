import type { JSX } from 'preact';
import { placeTextsOfKeys, shortcutKeys, shortcutTexts } from '../../model/query/shortcuts.js';
import { Dialog } from '../dialog.js';

/** All keys of the page. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const keys = [
    ...[...shortcutKeys].map(([key, action]) => [key, shortcutTexts[action]] as const),
    ...placeTextsOfKeys,
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {keys.map(([key, text]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
