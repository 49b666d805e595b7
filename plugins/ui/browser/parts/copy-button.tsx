import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { IconButton } from './icon-button.js';
import { Icon } from './icons.js';

/** A button that copies a text and briefly confirms it. */
export function CopyButton({
  text,
  label,
  short,
}: {
  readonly text: string;
  /** The name of the copied text: `Copy the line`. */
  readonly label: string;
  /** The caption of the button; without it, only the icon is shown. */
  readonly short?: string;
}): JSX.Element {
  const [said, say] = useState('');
  useEffect(() => {
    if (said === '') return undefined;
    const timer = setTimeout(() => say(''), 1_500);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = (): void => {
    copyText(text).then(
      () => say('Copied'),
      () => say('Not copied'),
    );
  };
  return (
    <>
      {short === undefined ? (
        <IconButton icon="copy" name={label} onClick={copy} />
      ) : (
        <button type="button" class="button" title={label === short ? undefined : label} onClick={copy}>
          <Icon name="copy" />
          <span>{said === '' ? short : said}</span>
        </button>
      )}
      <span class="visually-hidden" role="status">
        {said}
      </span>
    </>
  );
}

/** Copies a text. Pages of an insecure origin have no clipboard API, but can still copy a selection. */
async function copyText(text: string): Promise<void> {
  // The types promise a clipboard, which an insecure origin does not have.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard !== undefined) {
    await clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else works there
  const isDone = document.execCommand('copy');
  field.remove();
  if (!isDone) throw new Error('the browser does not copy');
}
