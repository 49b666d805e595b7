import { formatFloatShort } from '../../../base/time/index.js';

export type FloatVerb = 'e' | 'E' | 'f' | 'g' | 'G' | 'b' | 'x' | 'X';

/** Decimal digits of a value without its sign; the decimal point is before digit number `point`. */
interface Digits {
  readonly text: string;
  readonly point: number;
}

/** Go's strconv.FormatFloat for 64 bits; a precision of -1 means the shortest digits that parse to the value. */
export function formatFloat(value: number, verb: FloatVerb, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  switch (verb) {
    case 'b': {
      const { mantissa, exponent } = parts(size);
      return `${sign}${mantissa.toString()}p${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent))}`;
    }
    case 'x':
      return sign + formatHex(size, precision);
    case 'X':
      return sign + formatHex(size, precision).toUpperCase();
    case 'f':
      return sign + formatPlain(size, precision);
    case 'e':
    case 'E':
      return sign + formatExponent(digitsFor(size, precision + 1, precision < 0), precision, verb);
    case 'g':
    case 'G':
      if (precision < 0 && verb === 'g') return formatFloatShort(value);
      return sign + formatGeneral(size, precision, verb);
  }
}

function formatPlain(size: number, precision: number): string {
  if (precision >= 0 && precision <= 100 && size < 1e21) {
    // toFixed differs only in rounding ties, and ties have few binary places.
    const cannotTie = Number.isInteger(size) || !Number.isInteger(size * 2 ** (precision + 1));
    if (cannotTie) return size.toFixed(precision);
  }
  const exact = precision < 0 ? shortest(size) : exactDigits(size);
  const digits = precision < 0 ? exact : rounded(exact, exact.point + precision);
  return placePoint(digits, precision < 0 ? Math.max(digits.text.length - digits.point, 0) : precision);
}

function formatGeneral(size: number, precision: number, verb: 'g' | 'G'): string {
  const isShortest = precision < 0;
  const wanted = precision === 0 ? 1 : precision;
  const digits = trimmed(digitsFor(size, wanted, isShortest));
  const count = digits.text.length;
  let threshold = wanted > count && count >= digits.point ? count : wanted;
  if (isShortest) threshold = 6;
  const exponent = digits.point - 1;
  if (exponent < -4 || exponent >= threshold) {
    return formatExponent(digits, Math.max(count - 1, 0), verb === 'g' ? 'e' : 'E');
  }
  return placePoint(digits, Math.max(count - digits.point, 0));
}

function digitsFor(size: number, count: number, isShortest: boolean): Digits {
  if (isShortest) return shortest(size);
  // This is cheap up to 17 digits; a tie needs the exact digits.
  return size === 0 ? { text: '', point: 0 } : rounded(exactDigits(size), count);
}

function formatExponent({ text, point }: Digits, precision: number, verb: 'e' | 'E'): string {
  const places = precision < 0 ? Math.max(text.length - 1, 0) : precision;
  const fraction = text.slice(1).padEnd(places, '0');
  const exponent = text === '' ? 0 : point - 1;
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `${text.charAt(0) || '0'}${places > 0 ? `.${fraction}` : ''}${verb}${exponent < 0 ? '-' : '+'}${power}`;
}

function placePoint({ text, point }: Digits, places: number): string {
  const whole = point > 0 ? text.slice(0, point).padEnd(point, '0') : '0';
  if (places === 0) return whole;
  const zeros = '0'.repeat(Math.min(Math.max(-point, 0), places));
  const fraction = zeros + (point < text.length ? text.slice(Math.max(point, 0)) : '');
  return `${whole}.${fraction.slice(0, places).padEnd(places, '0')}`;
}

function shortest(size: number): Digits {
  if (size === 0) return { text: '', point: 0 };
  const [mantissa = '', exponent = '0'] = size.toExponential().split('e');
  return { text: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

/** All digits of the binary value. */
function exactDigits(size: number): Digits {
  if (size === 0) return { text: '', point: 0 };
  const { mantissa, exponent } = parts(size);
  if (exponent >= 0) {
    const text = (mantissa << BigInt(exponent)).toString();
    return { text, point: text.length };
  }
  const text = (mantissa * 5n ** BigInt(-exponent)).toString();
  return { text, point: text.length + exponent };
}

/** Rounds to `count` digits; ties go to the even digit. */
function rounded({ text, point }: Digits, count: number): Digits {
  if (count >= text.length) return { text, point };
  if (count < 0) return { text: '', point: 0 };
  const kept = text.slice(0, count);
  if (!roundsUp(text, count)) return { text: kept.replace(/0+$/, ''), point };
  const up = (BigInt(`0${kept}`) + 1n).toString().padStart(count, '0');
  return { text: up.replace(/0+$/, ''), point: point + (up.length - count) };
}

function roundsUp(text: string, count: number): boolean {
  const next = text.charAt(count);
  if (next !== '5') return next > '5';
  if (/[1-9]/.test(text.slice(count + 1))) return true;
  return count > 0 && Number(text.charAt(count - 1)) % 2 === 1;
}

function trimmed({ text, point }: Digits): Digits {
  const short = text.replace(/0+$/, '');
  return { text: short, point: short === '' ? 0 : point };
}

/** The value as mantissa * 2 ** exponent, from its bits. */
function parts(size: number): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, size);
  const bits = view.getBigUint64(0);
  const power = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & ((1n << 52n) - 1n);
  return power === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: power - 1075 };
}

/** `0x1.8p+01`: one bit before the point. */
function formatHex(size: number, precision: number): string {
  let { mantissa, exponent } = parts(size);
  if (mantissa === 0n) exponent = 0;
  else {
    // 61 bits: one before the point and 15 hexadecimal digits after it.
    const shift = 61 - mantissa.toString(2).length;
    mantissa <<= BigInt(shift);
    exponent += 60 - shift;
  }
  if (precision >= 0 && precision < 15) {
    const cut = BigInt(60 - precision * 4);
    const half = 1n << (cut - 1n);
    const rest = mantissa & ((1n << cut) - 1n);
    mantissa >>= cut;
    if (rest > half || (rest === half && (mantissa & 1n) === 1n)) mantissa += 1n;
    mantissa <<= cut;
    if (mantissa >> 61n !== 0n) {
      mantissa >>= 1n;
      exponent++;
    }
  }
  const all = (mantissa & ((1n << 60n) - 1n)).toString(16).padStart(15, '0');
  const fraction = precision < 0 ? all.replace(/0+$/, '') : all.slice(0, precision).padEnd(precision, '0');
  const power = String(Math.abs(exponent)).padStart(2, '0');
  const lead = (mantissa >> 60n).toString();
  return `0x${lead}${fraction === '' ? '' : `.${fraction}`}p${exponent < 0 ? '-' : '+'}${power}`;
}
