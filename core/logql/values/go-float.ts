import { quoteGo } from '../../base/time/go-quote.js';

const decimal =
  /^[+-]?(?:[0-9]+(?:_[0-9]+)*\.?(?:[0-9]+(?:_[0-9]+)*)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?$/;
const hexadecimal = /^([+-]?)0[xX]_?([0-9a-fA-F_]*)(?:\.([0-9a-fA-F_]*))?[pP]([+-]?[0-9]+)$/;
const special = /^([+-]?)(?:(inf|infinity)|nan)$/i;

/** A number as Go's strconv.ParseFloat parses it, or its error text. */
export type ParsedFloat =
  { readonly ok: true; readonly value: number } | { readonly ok: false; readonly error: string };

/** Parses a float in Go's syntax: decimal or hexadecimal, `_` between digits, `Inf` and `NaN`. */
export function parseGoFloat(text: string): ParsedFloat {
  const value = readFloat(text);
  if (value === undefined) return failure(text, 'invalid syntax');
  return Math.abs(value) === Infinity && !special.test(text)
    ? failure(text, 'value out of range')
    : { ok: true, value };
}

function failure(text: string, cause: string): ParsedFloat {
  return { ok: false, error: `strconv.ParseFloat: parsing ${quoteGo(text)}: ${cause}` };
}

function readFloat(text: string): number | undefined {
  if (decimal.test(text)) return Number(text.replaceAll('_', ''));
  const named = special.exec(text);
  if (named !== null) {
    if (named[2] === undefined) return named[1] === '' ? NaN : undefined;
    return named[1] === '-' ? -Infinity : Infinity;
  }
  const hex = hexadecimal.exec(text);
  return hex === null ? undefined : readHex(hex);
}

function readHex([, sign = '', whole = '', fraction = '', exponent = '']: readonly string[]):
  number | undefined {
  if (/^_|__|_$/.test(whole) || /^_|__|_$/.test(fraction)) return undefined;
  const digits = (whole + fraction).replaceAll('_', '');
  if (digits === '') return undefined;
  const shift = Number(exponent) - 4 * fraction.replaceAll('_', '').length;
  const magnitude = Number(BigInt(`0x${digits}`));
  // In two steps: 2 ** shift alone may overflow although the product does not.
  const half = Math.trunc(shift / 2);
  const value = magnitude * 2 ** half * 2 ** (shift - half);
  return sign === '-' ? -value : value;
}

/** Go's strconv.FormatFloat(value, 'f', -1, 64): shortest digits, never an exponent. */
export function formatFloatPlain(value: number): string {
  const name = specialName(value);
  if (name !== undefined) return name;
  const { sign, digits, point } = shortest(value);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Go's %v of a float64: plain digits for exponents from -4 to 5, else `1e+06`. */
export function formatFloatShort(value: number): string {
  const name = specialName(value);
  if (name !== undefined) return name;
  const { sign, digits, point } = shortest(value);
  const exponent = point - 1;
  if (exponent >= -4 && exponent < 6) return formatFloatPlain(value);
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${sign}${digits.slice(0, 1)}${fraction}e${exponent < 0 ? '-' : '+'}${size}`;
}

/** Go's %f: six decimals. */
export function formatFloatFixed(value: number): string {
  if (!Number.isFinite(value)) return specialName(value) ?? '';
  if (Math.abs(value) < 1e21) return Object.is(value, -0) ? '-0.000000' : value.toFixed(6);
  // A float of this size is an integer, and BigInt prints all its digits.
  return `${BigInt(value).toString()}.000000`;
}

function specialName(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  return undefined;
}

/** The shortest digits that parse to the value; the decimal point is before digit number `point`. */
function shortest(value: number): { sign: string; digits: string; point: number } {
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential().split('e');
  return { sign: value < 0 ? '-' : '', digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}
