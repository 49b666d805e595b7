const maxShown = 500;

/** Short ones are matched too: their closing quote would else be taken for an opening one. */
function unlessShort(quoted: string): string {
  const [quote = ''] = quoted;
  return quoted.length < 14 ? quoted : `${quote}...${quote}`;
}

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
    .replace(/'[^']{12,}'/g, "'...'")
    .replace(/\b[0-9a-fA-F]{16,}\b/g, '...');
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}...` : shown;
}
