const short = new Map<string, string>([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ["'", "'"],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const fourDigits = /^[0-9a-fA-F]{4}$/;

/** The text of a quoted logfmt value without its quotes, or undefined for an invalid escape. */
export function unquoteLogfmt(raw: string): string | undefined {
  let text = '';
  let from = 0;
  for (let at = raw.indexOf('\\'); at >= 0; at = raw.indexOf('\\', from)) {
    text += raw.slice(from, at);
    const letter = raw.charAt(at + 1);
    if (letter === 'u') {
      const digits = raw.slice(at + 2, at + 6);
      if (!fourDigits.test(digits)) return undefined;
      text += String.fromCharCode(Number.parseInt(digits, 16));
      from = at + 6;
    } else {
      const character = short.get(letter);
      if (character === undefined) return undefined;
      text += character;
      from = at + 2;
    }
  }
  // Unpaired surrogates are not valid characters.
  return (text + raw.slice(from)).replace(/\p{Surrogate}/gu, '\ufffd');
}
