/** Characters of single-letter escapes; `u` is followed by four digits instead. */
export const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const fourDigits = /^[0-9a-fA-F]{4}$/;

/** The text of a JSON string without its quotes, or undefined for an invalid escape. */
export function unescapeJson(raw: string): string | undefined {
  let at = raw.indexOf('\\');
  if (at < 0) return raw;
  let text = '';
  let from = 0;
  while (at >= 0) {
    text += raw.slice(from, at);
    const letter = raw.charAt(at + 1);
    if (letter === 'u') {
      const unit = readUnit(raw, at);
      if (unit === undefined) return undefined;
      const low = isSurrogate(unit) ? readLow(raw, at + 6) : undefined;
      if (isSurrogate(unit) && low === undefined) return undefined;
      text += low === undefined ? String.fromCharCode(unit) : combine(unit, low);
      from = at + (low === undefined ? 6 : 12);
    } else {
      const character = shortEscapes.get(letter);
      if (character === undefined) return undefined;
      text += character;
      from = at + 2;
    }
    at = raw.indexOf('\\', from);
  }
  return text + raw.slice(from);
}

/** A label's value from a part of a line: empty for an invalid escape, with a space for each invalid character. */
export function readJsonText(source: string, from: number, to: number): string {
  return withoutInvalid(unescapeJson(source.slice(from, to)) ?? '');
}

/** The text with a space for each invalid character. */
export function withoutInvalid(text: string): string {
  return text.includes('\ufffd') ? text.replaceAll('\ufffd', ' ') : text;
}

export function readUnit(raw: string, at: number): number | undefined {
  const digits = raw.slice(at + 2, at + 6);
  return fourDigits.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function readLow(raw: string, at: number): number | undefined {
  if (raw.charAt(at) !== '\\' || raw.charAt(at + 1) !== 'u') return undefined;
  const unit = readUnit(raw, at);
  return unit !== undefined && unit >= 0xdc00 ? unit : undefined;
}

/** The halves of a surrogate pair are not checked; an invalid result becomes U+FFFD. */
function combine(high: number, low: number): string {
  const code = 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
