const maxShown = 500;

/** Short ones are matched too: their closing quote would else be taken for an opening one. */
function unlessShort(quoted: string): string {
  const [quote = ''] = quoted;
  return quoted.length < 14 ? quoted : `${quote}...${quote}`;
}

/** Apostrophes between letters, as in `couldn't`, are part of a word: they neither begin nor end a quoted text. */
const singleQuoted = /(?<![\p{L}\p{N}])'(?:[^']|(?<=[\p{L}\p{N}])'(?=[\p{L}\p{N}]))*'/gu;

/**
 * Removes data from a backend's error text before a client sees it: selectors, quoted texts of 12 or more characters and long hex numbers;
 * cut at 500 characters (docs/protocol/errors-and-limits.md#error-body).
 */
export function redact(text: string): string {
  const shown = text
    .trim()
    .replace(/\{[^{}]*\}/g, '{...}')
    .replace(/"(?:[^"\\]|\\.)*"/g, unlessShort)
    .replace(/`[^`]*`/g, unlessShort)
    .replace(singleQuoted, unlessShort)
    .replace(/\b[0-9a-fA-F]{16,}\b/g, '...');
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}...` : shown;
}
