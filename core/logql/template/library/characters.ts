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

function isSpace(char: string): boolean {
  return known.has(char);
}

/** Go's strings.TrimSpace. */
export function trimSpace(text: string): string {
  const start = leadingSpace.exec(text)?.[0].length ?? 0;
  let end = text.length;
  while (end > start && isSpace(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Go maps each letter to one letter; JavaScript has rules that produce two letters (ß) or depend on neighbouring letters. */
export function upperText(text: string): string {
  const upper = text.toUpperCase();
  // Every letter that maps to several makes the text longer.
  return upper.length === text.length ? upper : mapCharacters(text, upperOf);
}

export function lowerText(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length && !text.includes('\u03a3') ? lower : mapCharacters(text, lowerOf);
}

/** Go's strings.Title: the first letter of every word in title case, the rest unchanged. */
export function toTitle(text: string): string {
  let isStart = true;
  return mapCharacters(text, (char) => {
    const out = isStart ? titleOf(char) : char;
    isStart = isSeparator(char);
    return out;
  });
}

function mapCharacters(text: string, map: (char: string) => string): string {
  let out = '';
  for (const char of text) out += map(char);
  return out;
}

function upperOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  // Greek letters with iota subscript: a single capital where JavaScript writes the iota separately.
  if (code >= 0x1f80 && code <= 0x1fff) {
    const isRow = code < 0x1fb0 && (code & 15) < 8;
    if (isRow) return String.fromCodePoint(code + 8);
    if (code === 0x1fb3 || code === 0x1fc3 || code === 0x1ff3) return String.fromCodePoint(code + 9);
  }
  return single(char, char.toUpperCase());
}

function lowerOf(char: string): string {
  return char === '\u0130' ? 'i' : single(char, char.toLowerCase());
}

function titleOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0x1c4 && code <= 0x1cc) return String.fromCodePoint(0x1c5 + 3 * Math.floor((code - 0x1c4) / 3));
  if (code >= 0x1f1 && code <= 0x1f3) return '\u01f2';
  // Georgian letters have capitals but no title case.
  return code >= 0x10d0 && code <= 0x10ff ? char : upperOf(char);
}

/** The mapped letter, unless it is more than one. */
function single(char: string, mapped: string): string {
  const length = (mapped.codePointAt(0) ?? 0) > 0xffff ? 2 : 1;
  return mapped.length === length ? mapped : char;
}

function isSeparator(char: string): boolean {
  if (char <= '\x7f') return !/[0-9A-Za-z_]/.test(char);
  return !/[\p{L}\p{Nd}]/u.test(char) && isSpace(char);
}
