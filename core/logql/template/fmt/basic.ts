import { isPrintable } from '../strings/characters.js';
import { toBytes } from '../../values/raw-bytes.js';
import { pad, truncate, type Directive } from './directive.js';
import { formatFloat, type FloatVerb } from './float.js';
import { canBackquote, isCharacter, quoteCharacter, quoteGoText } from './quote.js';

type Flags = Readonly<Directive>;

/** A bool, number or text as a verb prints it; undefined when the verb does not fit the type. */
export function formatBoolean(value: boolean, verb: string, flags: Flags): string | undefined {
  return verb === 't' || verb === 'v' ? pad(String(value), flags) : undefined;
}

export function formatString(text: string, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case 'v':
      return flags.sharpV ? quoted(text, flags) : pad(truncate(text, flags.precision), flags);
    case 's':
      return pad(truncate(text, flags.precision), flags);
    case 'x':
    case 'X':
      return hexText(text, verb === 'X', flags);
    case 'q':
      return quoted(text, flags);
    default:
      return undefined;
  }
}

function quoted(text: string, flags: Flags): string {
  const cut = truncate(text, flags.precision);
  const isRaw = flags.sharp && canBackquote(cut);
  return pad(isRaw ? `\`${cut}\`` : quoteGoText(cut, flags.plus), flags);
}

function hexText(text: string, isUpper: boolean, flags: Flags): string {
  const bytes = toBytes(text).subarray(0, flags.precision);
  const digits = bytes.toString('hex');
  const prefix = flags.sharp && bytes.length > 0 ? '0x' : '';
  const spaced = flags.space ? digits.replaceAll(/..(?=.)/g, `$& ${prefix}`) : digits;
  return pad(isUpper ? (prefix + spaced).toUpperCase() : prefix + spaced, flags);
}

const bases = new Map([
  ['v', 10],
  ['d', 10],
  ['b', 2],
  ['o', 8],
  ['O', 8],
  ['x', 16],
  ['X', 16],
]);

/** `isUnsigned` only matters for `%#v`, which prints bytes in hexadecimal. */
export function formatInteger(
  value: bigint,
  verb: string,
  flags: Flags,
  isUnsigned: boolean,
): string | undefined {
  switch (verb) {
    case 'c':
      return pad(String.fromCodePoint(characterOf(value)), flags);
    case 'q':
      return pad(quoteCharacter(characterOf(value), flags.plus), flags);
    case 'U':
      return pad(unicodeName(BigInt.asUintN(64, value), flags), flags, false);
    default: {
      const base = bases.get(verb);
      if (base === undefined) return undefined;
      const isHexByte = verb === 'v' && flags.sharpV && isUnsigned;
      return isHexByte
        ? digitsOf(value, 16, 'x', { ...flags, sharp: true })
        : digitsOf(value, base, verb, flags);
    }
  }
}

function digitsOf(value: bigint, base: number, verb: string, flags: Flags): string {
  const { precision, width } = flags;
  if (precision === 0 && value === 0n) return ' '.repeat(width ?? 0);
  const isNegative = value < 0n;
  const sign = isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  let least = precision ?? 0;
  if (precision === undefined && flags.zero && !flags.minus) least = (width ?? 0) - sign.length;
  let digits = (isNegative ? -value : value).toString(base).padStart(least, '0');
  if (flags.sharp) {
    if (base === 2) digits = `0b${digits}`;
    if (base === 8 && !digits.startsWith('0')) digits = `0${digits}`;
    if (base === 16) digits = `0x${digits}`;
  }
  if (verb === 'O') digits = `0o${digits}`;
  return pad(sign + (verb === 'X' ? digits.toUpperCase() : digits), flags, false);
}

function characterOf(value: bigint): number {
  const code = value >= 0n && value <= 0x10ffffn ? Number(value) : 0xfffd;
  return isCharacter(code) ? code : 0xfffd;
}

function unicodeName(code: bigint, { precision, sharp }: Flags): string {
  const name = `U+${code
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(precision ?? 4, 4), '0')}`;
  const isShown = sharp && code <= 0x10ffffn && isPrintable(Number(code));
  return isShown ? `${name} '${String.fromCodePoint(Number(code))}'` : name;
}

export function formatFloatVerb(value: number, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case 'v':
      return padFloat(value, 'g', -1, 'v', flags);
    case 'b':
    case 'g':
    case 'G':
    case 'x':
    case 'X':
      return padFloat(value, verb, -1, verb, flags);
    case 'f':
    case 'e':
    case 'E':
      return padFloat(value, verb, 6, verb, flags);
    case 'F':
      return padFloat(value, 'f', 6, 'f', flags);
    default:
      return undefined;
  }
}

function padFloat(value: number, as: FloatVerb, fallback: number, verb: string, flags: Flags): string {
  const precision = flags.precision ?? fallback;
  const printed = formatFloat(value, as, precision);
  const isNegative = printed.startsWith('-');
  const size = isNegative || printed.startsWith('+') ? printed.slice(1) : printed;
  const sign = isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  if (size === 'Inf' || size === 'NaN') {
    const isSigned = size === 'Inf' && sign === '';
    return pad((isSigned ? '+' : sign) + size, flags, false);
  }
  const digits = flags.sharp && verb !== 'b' ? keepZeros(size, verb, precision) : size;
  const isZeroFilled = flags.zero && !flags.minus && sign !== '' && flags.width !== undefined;
  if (!isZeroFilled) return pad(sign + digits, flags);
  return sign + digits.padStart(flags.width - 1, '0');
}

/** The flag `#`: always a decimal point, and for %g and %x trailing zeros. */
function keepZeros(size: string, verb: string, precision: number): string {
  const isHex = verb === 'x' || verb === 'X';
  const at = size.search(isHex ? /[pP]/ : /[eE]/);
  const mantissa = at < 0 ? size : size.slice(0, at);
  const tail = at < 0 ? '' : size.slice(at);
  const counts = verb === 'v' || verb === 'g' || verb === 'G' || verb === 'x';
  let missing = counts ? (precision === -1 ? 6 : precision) : 0;
  missing -= mantissa.replace('.', '').replace(/^0+/, '').length;
  let out = mantissa;
  if (!mantissa.includes('.')) {
    if (mantissa === '0') missing--;
    out += '.';
  }
  return out + '0'.repeat(Math.max(missing, 0)) + tail;
}
