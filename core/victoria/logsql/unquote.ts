const simpleEscapes: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['b', 8],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
  ['\\', 92],
  ['"', 34],
  ["'", 39],
  ['/', 47],
]);

const backslash = 0x5c;
const lineFeed = 0x0a;

interface Unquoted {
  readonly text: string;
  /** Offset after the closing quote. */
  readonly end: number;
}

/** Parses the quoted string (`"..."`, `'...'` or a raw one in back quotes) at the offset; undefined when there is none. */
export function unquote(source: string, start: number): Unquoted | undefined {
  const quote = source[start];
  if (quote === '`') {
    const end = source.indexOf('`', start + 1);
    return end < 0 ? undefined : { text: source.slice(start + 1, end).replaceAll('\r', ''), end: end + 1 };
  }
  if (quote !== '"' && quote !== "'") return undefined;
  let text = '';
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length > 0) text += Buffer.from(bytes).toString('utf8');
    bytes = [];
  };
  let i = start + 1;
  for (;;) {
    const char = source[i];
    if (char === undefined || (char === '\n' && quote === '"')) return undefined;
    if (char === quote) {
      flush();
      return { text, end: i + 1 };
    }
    if (char !== '\\') {
      flush();
      const from = i;
      while (isPlain(source.charCodeAt(++i), quote));
      text += source.slice(from, i);
      continue;
    }
    const escape = readEscape(source, i);
    if (escape === undefined) return undefined;
    if (escape.isByte) bytes.push(escape.code);
    else {
      flush();
      text += escape.code > 0xffff ? String.fromCodePoint(escape.code) : String.fromCharCode(escape.code);
    }
    i = escape.end;
  }
}

/** True if a character is literal; NaN means the end of the text. */
function isPlain(code: number, quote: string): boolean {
  return code !== backslash && code !== lineFeed && code !== quote.charCodeAt(0) && !Number.isNaN(code);
}

const escapes = /\\(?:([abfnrtv\\"'/])|x([0-9A-Fa-f]{2})|([0-7]{3})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))/y;

interface Escape {
  readonly code: number;
  /** True when the code is a byte of UTF-8 rather than a character. */
  readonly isByte: boolean;
  readonly end: number;
}

/** Reads the escape at a backslash. */
function readEscape(source: string, at: number): Escape | undefined {
  escapes.lastIndex = at;
  const match = escapes.exec(source);
  if (match === null) return undefined;
  const [all, simple, byte, octal, short, long] = match;
  const end = at + all.length;
  if (simple !== undefined) return { code: simpleEscapes.get(simple) ?? 0, isByte: false, end };
  const code = Number.parseInt(octal ?? byte ?? short ?? long ?? '', octal === undefined ? 16 : 8);
  const isByte = short === undefined && long === undefined;
  return code > (isByte ? 0xff : 0x10ffff) ? undefined : { code, isByte, end };
}
