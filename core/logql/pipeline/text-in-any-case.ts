import { loweredTo } from '../regexp/folding.js';

/**
 * The code points that Loki takes for each one of a lower-case text. It compares the lower case of each with the text, but looks for a
 * beginning by bytes, where it only knows the cases of ASCII: the Kelvin sign is a k in `ok` and none in `ko`, and no capital letter whose
 * first byte differs from that of the small one begins a text.
 */
export function casesOfText(text: string): readonly (readonly number[])[] {
  return Array.from(text, (char, at) => {
    const code = char.codePointAt(0) ?? 0;
    const cases = loweredTo(code);
    return at > 0 ? cases : cases.filter((one) => firstByte(one) === firstByte(code));
  });
}

/** The first byte of a code point in UTF-8; of a capital letter of ASCII that of the small one. */
function firstByte(code: number): number {
  if (code < 0x80) return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
  return Buffer.from(String.fromCodePoint(code)).readUInt8(0);
}

/** A pattern of the texts that Loki takes for this one, which V8 (with the flag `u`) and RE2 read the same. */
export function anyCasePattern(text: string): string {
  return casesOfText(text)
    .map((cases) => {
      const chars = cases.map((code) => quotedPattern(String.fromCodePoint(code)));
      return chars.length === 1 ? chars.join('') : `[${chars.join('')}]`;
    })
    .join('');
}

/** A pattern of this text alone, for V8 and RE2. */
export function quotedPattern(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
