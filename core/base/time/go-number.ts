/** Parses and prints numbers as Go's strconv does: it defines Loki's parameters and conversions, error messages included. */
import { quoteGo } from './go-quote.js';

export type NumberProblem = 'invalid syntax' | 'value out of range';
export type Parsed<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'bad'; readonly problem: NumberProblem; readonly error: string };

export const maxInt64 = 9_223_372_036_854_775_807n;
export const minInt64 = -9_223_372_036_854_775_808n;

const integer = /^[+-]?[0-9]+$/;

/** Parses a signed 64-bit decimal integer, as `strconv.ParseInt(text, 10, 64)` and `strconv.Atoi` do. */
export function parseGoInt(text: string): Parsed<bigint> {
  if (!integer.test(text)) return failure('ParseInt', text, 'invalid syntax');
  // Longer digit strings cannot fit; without this bound, BigInt would take quadratic time on untrusted input.
  if (text.replace(/^[+-]?0*/, '').length > 19) return failure('ParseInt', text, 'value out of range');
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value < minInt64 || value > maxInt64
    ? failure('ParseInt', text, 'value out of range')
    : { kind: 'ok', value };
}

function failure(name: string, text: string, problem: NumberProblem): Parsed<never> {
  return { kind: 'bad', problem, error: `strconv.${name}: parsing ${quoteGo(text)}: ${problem}` };
}

const decimal =
  /^[+-]?(?:[0-9]+(?:_[0-9]+)*\.?(?:[0-9]+(?:_[0-9]+)*)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?$/;
const hexadecimal = /^([+-]?)0[xX]_?([0-9a-fA-F_]*)(?:\.([0-9a-fA-F_]*))?[pP]([+-]?[0-9]+)$/;
const special = /^([+-]?)(?:(inf|infinity)|nan)$/i;

/** Parses a float as `strconv.ParseFloat(text, 64)` does: decimal or hexadecimal, `_` between digits, `Inf` and `NaN`. */
export function parseGoFloat(text: string): Parsed<number> {
  const value = readFloat(text);
  if (value === undefined) return failure('ParseFloat', text, 'invalid syntax');
  return Math.abs(value) === Infinity && !special.test(text)
    ? failure('ParseFloat', text, 'value out of range')
    : { kind: 'ok', value };
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

/** Prints a float as `strconv.FormatFloat(value, 'f', -1, 64)` does: the shortest digits that parse to it, never an exponent. */
export function formatFloatPlain(value: number): string {
  const name = specialName(value);
  if (name !== undefined) return name;
  const text = String(value);
  if (!text.includes('e')) return text;
  const { sign, digits, point } = shortest(value);
  return point <= 0 ? `${sign}0.${'0'.repeat(-point)}${digits}` : sign + digits.padEnd(point, '0');
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
