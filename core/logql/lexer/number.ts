import type { CharReader } from './char-reader.js';

type Prefix = '' | '0' | 'x' | 'o' | 'b';

const literalNames: Readonly<Record<Prefix, string>> = {
  '': 'decimal literal',
  '0': 'octal literal',
  o: 'octal literal',
  x: 'hexadecimal literal',
  b: 'binary literal',
};

const bases: Readonly<Record<Prefix, number>> = { '': 10, '0': 8, o: 8, x: 16, b: 2 };

interface Digits {
  readonly hasDigit: boolean;
  readonly hasSeparator: boolean;
  readonly invalid: string | undefined;
}

export function isDecimal(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Scans a number in Go's syntax and reports errors; the scanned text is still the token. */
export function scanNumber(
  reader: CharReader,
  report: (message: string) => void,
  afterDot: boolean,
  afterSpace = false,
): void {
  const start = reader.offset;
  let prefix: Prefix = '';
  let isFloat = afterDot;
  const parts: Digits[] = [];
  if (!afterDot) {
    prefix = scanPrefix(reader, afterSpace);
    parts.push(scanDigits(reader, bases[prefix]));
    if (prefix === '0') parts.push({ hasDigit: true, hasSeparator: false, invalid: undefined });
    if (ahead(reader) === '.') {
      reader.step();
      isFloat = true;
    }
  }
  if (isFloat) {
    if (prefix === 'o' || prefix === 'b') report(`invalid radix point in ${literalNames[prefix]}`);
    parts.push(scanDigits(reader, bases[prefix]));
  }
  if (!parts.some((part) => part.hasDigit)) report(`${literalNames[prefix]} has no digits`);
  const letter = ahead(reader).toLowerCase();
  // Without a hexadecimal prefix, `P` starts a unit instead of an exponent: `5PB`.
  if (letter === 'e' || (letter === 'p' && prefix === 'x')) {
    parts.push(scanExponent(reader, report, prefix));
    isFloat = true;
  } else if (prefix === 'x' && isFloat) {
    report("hexadecimal mantissa requires a 'p' exponent");
  }
  const invalid = parts.find((part) => part.invalid !== undefined)?.invalid;
  if (!isFloat && invalid !== undefined) report(`invalid digit '${invalid}' in ${literalNames[prefix]}`);
  if (parts.some((part) => part.hasSeparator) && hasStraySeparator(reader.slice(start))) {
    report("'_' must separate successive digits");
  }
}

/** After white space or a comment Loki does not see that a literal is binary: it reads the 0, and reports that it has no digits. */
function scanPrefix(reader: CharReader, afterSpace: boolean): Prefix {
  if (ahead(reader) !== '0') return '';
  reader.step();
  const letter = ahead(reader).toLowerCase();
  if (letter === 'b' && afterSpace) return '';
  if (letter !== 'x' && letter !== 'o' && letter !== 'b') return '0';
  reader.step();
  return letter;
}

function scanExponent(reader: CharReader, report: (message: string) => void, prefix: Prefix): Digits {
  const letter = ahead(reader);
  if (letter.toLowerCase() === 'e' && prefix !== '' && prefix !== '0') {
    report(`'${letter}' exponent requires decimal mantissa`);
  }
  reader.step();
  const sign = ahead(reader);
  if (sign === '+' || sign === '-') reader.step();
  const digits = scanDigits(reader, 10);
  if (!digits.hasDigit) report('exponent has no digits');
  return { ...digits, invalid: undefined };
}

function scanDigits(reader: CharReader, base: number): Digits {
  let hasDigit = false;
  let hasSeparator = false;
  let invalid: string | undefined;
  const pattern = base === 16 ? /[0-9a-fA-F_]/ : /[0-9_]/;
  for (let char = ahead(reader); pattern.test(char); char = ahead(reader)) {
    if (char === '_') hasSeparator = true;
    else hasDigit = true;
    if (base < 10 && char >= String(base) && char !== '_') invalid ??= char;
    reader.step();
  }
  return { hasDigit, hasSeparator, invalid };
}

function ahead(reader: CharReader): string {
  const code = reader.peek();
  return code < 0 ? '' : String.fromCodePoint(code);
}

/** A separator must be between two digits; a base prefix counts as a digit. */
function hasStraySeparator(text: string): boolean {
  const digits = text.toLowerCase().replace(/^0[xob]/, '0');
  return /(?:^|[^0-9a-f])_|_(?:$|[^0-9a-f])/.test(digits);
}
