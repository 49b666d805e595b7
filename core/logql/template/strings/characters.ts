/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(code: number): boolean {
  return /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(String.fromCodePoint(code));
}

/** The characters for which Go's unicode.IsSpace holds. */
export const spaces: readonly string[] = [
  ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680],
  ...Array.from({ length: 11 }, (_, index) => 0x2000 + index),
  ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
].map((code) => String.fromCharCode(code));
const leadingSpace = new RegExp(`^[${spaces.join('')}]+`);
const known: ReadonlySet<string> = new Set(spaces);

export function isSpace(char: string): boolean {
  return known.has(char);
}

/** Go's strings.TrimSpace. */
export function trimSpace(text: string): string {
  const start = leadingSpace.exec(text)?.[0].length ?? 0;
  let end = text.length;
  while (end > start && isSpace(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
