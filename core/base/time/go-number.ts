/** Parses numbers as Go's strconv does: it defines Loki's parameters, error messages included. */

export type NumberProblem = 'invalid syntax' | 'value out of range';
export type Parsed<Value> =
  { readonly kind: 'ok'; readonly value: Value } | { readonly kind: 'bad'; readonly problem: NumberProblem };

export const maxInt64 = 9_223_372_036_854_775_807n;
export const minInt64 = -9_223_372_036_854_775_808n;

const integer = /^[+-]?[0-9]+$/;

/** Parses a signed 64-bit decimal integer, as `strconv.ParseInt(text, 10, 64)` and `strconv.Atoi` do. */
export function parseGoInt(text: string): Parsed<bigint> {
  if (!integer.test(text)) return { kind: 'bad', problem: 'invalid syntax' };
  // Longer digit strings cannot fit; without this bound, BigInt would take quadratic time on untrusted input.
  if (text.replace(/^[+-]?0*/, '').length > 19) return { kind: 'bad', problem: 'value out of range' };
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value < minInt64 || value > maxInt64
    ? { kind: 'bad', problem: 'value out of range' }
    : { kind: 'ok', value };
}

const decimal = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)$/;
const special = /^([+-]?)(inf|infinity|nan)$/i;

/** Parses a float as `strconv.ParseFloat(text, 64)` does, including infinities, NaN and hexadecimal forms. */
export function parseGoFloat(text: string): Parsed<number> {
  if (decimal.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? { kind: 'ok', value } : { kind: 'bad', problem: 'value out of range' };
  }
  const named = special.exec(text);
  if (named !== null) {
    const magnitude = named[2]?.toLowerCase() === 'nan' ? NaN : Infinity;
    return { kind: 'ok', value: named[1] === '-' ? -magnitude : magnitude };
  }
  const hex = hexadecimal.exec(text);
  if (hex === null) return { kind: 'bad', problem: 'invalid syntax' };
  const whole = hex[2] ?? '';
  const fraction = hex[3] ?? '';
  if (whole === '' && fraction === '') return { kind: 'bad', problem: 'invalid syntax' };
  let mantissa = 0;
  for (const digit of whole + fraction) mantissa = mantissa * 16 + parseInt(digit, 16);
  const value = (hex[1] === '-' ? -1 : 1) * mantissa * 2 ** (Number(hex[4]) - 4 * fraction.length);
  return Number.isFinite(value) ? { kind: 'ok', value } : { kind: 'bad', problem: 'value out of range' };
}
