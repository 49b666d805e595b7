const short = new Map([
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

/** Everything Go does not consider printable (letters, marks, numbers, punctuation, symbols, the ASCII space), and what must be escaped. */
const unprintable = /[\\"]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Sequences of characters outside plain ASCII: only these need the slower Unicode check. */
const special = /[^ !#-[\]-~]+/g;

/** Quotes a string as Go's strconv.Quote does. A lone surrogate from U+DC80 to U+DCFF is a byte that is not UTF-8. */
export function quoteGo(text: string): string {
  return `"${text.replaceAll(special, (part) => part.replaceAll(unprintable, escape))}"`;
}

function escape(char: string): string {
  const known = short.get(char);
  if (known !== undefined) return known;
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code & 0xff).toString(16)}`;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  const hex = code.toString(16);
  if (code < 0x20 || code === 0x7f) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
