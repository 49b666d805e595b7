/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(code: number): boolean {
  return /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(String.fromCodePoint(code));
}

const spaceRanges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0x85, 0x85],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
] as const;
/** The characters for which Go's unicode.IsSpace holds. */
export const spaces: readonly string[] = spaceRanges.flatMap(([first, last]) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index)),
);
/** The same as a class of RE2. */
export const spaceClass = `[${spaceRanges.map(([first, last]) => [...new Set([first, last])].map(escapedCode).join('-')).join('')}]`;

function escapedCode(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

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
