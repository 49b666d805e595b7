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
    const escape = readEscape(source, i + 1);
    if (escape === undefined) return undefined;
    if (escape.byte) bytes.push(escape.code);
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

interface Escape {
  readonly code: number;
  /** True when the code is a byte of UTF-8 rather than a character. */
  readonly byte: boolean;
  readonly end: number;
}

function readEscape(source: string, at: number): Escape | undefined {
  const char = source[at] ?? '';
  const simple = simpleEscapes.get(char);
  if (simple !== undefined) return { code: simple, byte: false, end: at + 1 };
  if (char === 'x') return readDigits(source, at + 1, 2, 16, true);
  if (char === 'u') return readDigits(source, at + 1, 4, 16, false);
  if (char === 'U') {
    const escape = readDigits(source, at + 1, 8, 16, false);
    return escape !== undefined && escape.code <= 0x10ffff ? escape : undefined;
  }
  const octal = readDigits(source, at, 3, 8, true);
  return octal !== undefined && octal.code <= 255 ? octal : undefined;
}

function readDigits(
  source: string,
  at: number,
  count: number,
  radix: 8 | 16,
  byte: boolean,
): Escape | undefined {
  const digits = source.slice(at, at + count);
  const valid = radix === 16 ? /^[0-9A-Fa-f]+$/ : /^[0-7]+$/;
  if (digits.length !== count || !valid.test(digits)) return undefined;
  return { code: Number.parseInt(digits, radix), byte, end: at + count };
}
