/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(code: number): boolean {
  return /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(String.fromCodePoint(code));
}

const goSpaces = '\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const leadingSpace = new RegExp(`^[${goSpaces}]+`);
const oneSpace = new RegExp(`^[${goSpaces}]$`);

export function isSpace(char: string): boolean {
  return oneSpace.test(char);
}

/** Go's strings.TrimSpace. */
export function trimSpace(text: string): string {
  const start = leadingSpace.exec(text)?.[0].length ?? 0;
  let end = text.length;
  while (end > start && isSpace(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
