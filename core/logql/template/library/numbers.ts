import { wrapInt, floatToInt64, GoInt, type GoValue, concrete } from '../values.js';
import { runtimeError, size, type GoFunction, GoError, ofText } from './types.js';
import {
  parseGoFloat,
  maxInt64,
  minInt64,
  formatFloatShort,
  goDurationFault,
  parseGoDuration,
} from '../../../base/time/index.js';
import { parseBytes } from '../../values/bytes.js';
import { lowerText, trimSpace } from './characters.js';

/** A function of one or more integers. */
function ints(apply: (a: bigint, b: bigint) => bigint): GoFunction {
  return {
    parameters: ['any'],
    rest: 'any',
    call: ([first, ...others]) => {
      let value = toInt64(first);
      for (const other of others) value = BigInt.asIntN(64, apply(value, toInt64(other)));
      return new GoInt(value, 'int64');
    },
  };
}

function twoInts(apply: (a: bigint, b: bigint) => bigint): GoFunction {
  return {
    parameters: ['any', 'any'],
    call: ([a, b]) => wrapInt(apply(toInt64(a), toInt64(b)), 'int64'),
  };
}

function nonZero(divisor: bigint): bigint {
  if (divisor === 0n) throw runtimeError('integer divide by zero');
  return divisor;
}

/** Decimals with large exponents have hundreds of digits. */
const stepsPerDecimal = 16;

/** A function of floats computed as decimals, so that 0.1 and 0.2 make 0.3. */
function decimals(apply: (a: Decimal, b: Decimal) => Decimal): GoFunction {
  return {
    parameters: ['any'],
    stepsPerArgument: stepsPerDecimal,
    rest: 'any',
    call: ([first, ...others]) => foldDecimals(first, others, apply),
  };
}

function foldDecimals(
  first: GoValue,
  others: readonly GoValue[],
  apply: (a: Decimal, b: Decimal) => Decimal,
): number {
  let value = fromFloat(toFloat64(first));
  for (const other of others) value = apply(value, fromFloat(toFloat64(other)));
  return toFloat(value);
}

function floats(apply: (a: number, b: number) => number): GoFunction {
  return {
    parameters: ['any'],
    rest: 'any',
    call: ([first, ...others]) => others.reduce<number>((a, b) => apply(a, toFloat64(b)), toFloat64(first)),
  };
}

/** Go's math.Max: an infinity beats NaN. */
function maxFloat(a: number, b: number): number {
  return a === Infinity || b === Infinity ? Infinity : Math.max(a, b);
}

function minFloat(a: number, b: number): number {
  return a === -Infinity || b === -Infinity ? -Infinity : Math.min(a, b);
}

/** Ten to an integer power by squaring, which rounds as Go's math.Pow does. */
function powerOfTen(power: number): number {
  let factor = 0.625;
  let factorExponent = 4;
  let value = 1;
  let exponent = 0;
  for (let rest = Math.abs(power); rest !== 0; rest = Math.floor(rest / 2)) {
    if (Math.abs(factorExponent) > 4096) return power > 0 ? Infinity : 0;
    if (rest % 2 === 1) {
      value *= factor;
      exponent += factorExponent;
    }
    factor *= factor;
    factorExponent *= 2;
    if (factor < 0.5) {
      factor += factor;
      factorExponent--;
    }
  }
  if (power < 0) {
    value = 1 / value;
    exponent = -exponent;
  }
  // In two steps, because 2 ** exponent alone may overflow.
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (exponent - half);
}

function round(value: number, places: number, threshold: number): number {
  const power = powerOfTen(places);
  const digits = power * value;
  const whole = Math.trunc(digits);
  const rest = Number.isFinite(digits) ? digits - whole : NaN;
  return (rest >= threshold ? Math.ceil(digits) : Math.floor(digits)) / power;
}

export const numberFunctions: Readonly<Record<string, GoFunction>> = {
  int: { parameters: ['any'], call: ([value]) => new GoInt(toInt64(value)) },
  float64: { parameters: ['any'], call: ([value]) => toFloat64(value) },
  add: {
    parameters: [],
    rest: 'any',
    call: (args) =>
      wrapInt(
        args.reduce<bigint>((sum, arg) => sum + toInt64(arg), 0n),
        'int64',
      ),
  },
  mul: ints((a, b) => a * b),
  max: ints((a, b) => (b > a ? b : a)),
  min: ints((a, b) => (b < a ? b : a)),
  sub: twoInts((a, b) => a - b),
  div: twoInts((a, b) => a / nonZero(b)),
  mod: twoInts((a, b) => a % nonZero(b)),
  addf: {
    parameters: [],
    rest: 'any',
    stepsPerArgument: stepsPerDecimal,
    call: (args) => foldDecimals(0, args, add),
  },
  subf: decimals(subtract),
  mulf: decimals(multiply),
  divf: decimals(divide),
  maxf: floats(maxFloat),
  minf: floats(minFloat),
  ceil: { parameters: ['any'], call: ([value]) => Math.ceil(toFloat64(value)) },
  floor: { parameters: ['any'], call: ([value]) => Math.floor(toFloat64(value)) },
  round: {
    parameters: ['any', 'int'],
    rest: 'float64',
    call: ([value, places, threshold]) =>
      round(toFloat64(value), size(places), typeof threshold === 'number' ? threshold : 0.5),
  },
};

const anyBase =
  /^([+-]?)(0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*)$/;

/** Go's strconv.ParseInt with base 0: the prefix decides the base, a leading 0 means octal. */
function parseAnyBase(source: string): bigint | undefined {
  const [, sign, written] = anyBase.exec(source) ?? [];
  if (written === undefined) return undefined;
  const digits = written.replaceAll('_', '').replace(/^0+(?=[0-9])/, '0');
  // Far more digits than 64 bits have, in any base.
  if (digits.length > 80) return undefined;
  const size = BigInt(/^0[0-7]/.test(digits) ? `0o${digits}` : digits);
  const value = sign === '-' ? -size : size;
  return value < minInt64 || value > maxInt64 ? undefined : value;
}

/** The whole part of a decimal; other texts unchanged. */
function trimDecimal(source: string): string {
  if (!source.includes('.')) return source;
  const whole = /^([-+]?[0-9]*)(?:\.[0-9]*)?$/.exec(source)?.[1];
  if (whole === undefined) return source;
  return /[0-9]$/.test(whole) ? whole : `${whole}0`;
}

/** Any value as int64; 0 for anything but a number. */
function toInt64(boxed: GoValue): bigint {
  const value = concrete(boxed);
  switch (typeof value) {
    case 'string':
      return parseAnyBase(trimDecimal(value)) ?? 0n;
    case 'number':
      return floatToInt64(value);
    case 'boolean':
      return value ? 1n : 0n;
    case 'undefined':
      return 0n;
    case 'object':
      return value.kind === 'int' ? value.value : 0n;
  }
}

/** Any value as float64; 0 for anything but a number. */
function toFloat64(boxed: GoValue): number {
  const value = concrete(boxed);
  switch (typeof value) {
    case 'string': {
      const parsed = parseGoFloat(value);
      return parsed.kind === 'ok' ? parsed.value : 0;
    }
    case 'number':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    case 'undefined':
      return 0;
    case 'object':
      return value.kind === 'int' ? Number(value.value) : 0;
  }
}

/** coefficient * 10 ** exponent, exactly. */
interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

/** Decimal places that a division is rounded to. */
const divisionPlaces = 16;

/** The decimal that a float prints as. */
function fromFloat(value: number): Decimal {
  if (!Number.isFinite(value)) throw new GoError(`Cannot create a Decimal from ${formatFloatShort(value)}`);
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { coefficient: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function toFloat({ coefficient, exponent }: Decimal): number {
  return Number(`${coefficient.toString()}e${String(exponent)}`);
}

function add(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent);
  return { coefficient: scaled(a, exponent) + scaled(b, exponent), exponent };
}

function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, { coefficient: -b.coefficient, exponent: b.exponent });
}

function multiply(a: Decimal, b: Decimal): Decimal {
  return { coefficient: a.coefficient * b.coefficient, exponent: a.exponent + b.exponent };
}

/** Rounds half away from zero. */
function divide(a: Decimal, b: Decimal): Decimal {
  if (b.coefficient === 0n) throw new GoError('decimal division by 0');
  const shift = a.exponent - b.exponent + divisionPlaces;
  const above = shift > 0 ? a.coefficient * 10n ** BigInt(shift) : a.coefficient;
  const below = shift < 0 ? b.coefficient * 10n ** BigInt(-shift) : b.coefficient;
  const quotient = above / below;
  const rest = above % below;
  const isHalf = magnitude(rest) * 2n >= magnitude(below);
  const away = above < 0n === below < 0n ? 1n : -1n;
  return { coefficient: isHalf ? quotient + away : quotient, exponent: -divisionPlaces };
}

function scaled({ coefficient, exponent }: Decimal, to: number): bigint {
  return coefficient * 10n ** BigInt(exponent - to);
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** A size as a number of bytes. */
function bytes(subject: string): number {
  const size = parseBytes(subject);
  if (size !== undefined) return size;
  const digits = /^[\p{Nd}.,]*/u.exec(subject)?.[0] ?? '';
  const number = parseGoFloat(digits.replaceAll(',', ''));
  if (number.kind === 'bad') throw new GoError(number.error);
  const unit = lowerText(trimSpace(subject.slice(digits.length)));
  const isKnown = parseBytes(`1 ${unit}`) !== undefined;
  throw new GoError(isKnown ? `too large: ${subject}` : `unhandled size name: ${unit}`);
}

/** A duration in seconds. */
function seconds(subject: string): number {
  const nanoseconds = parseGoDuration(subject);
  if (nanoseconds === undefined) throw new GoError(goDurationFault(subject));
  return durationSeconds(nanoseconds);
}

/** Go's Duration.Seconds. */
export function durationSeconds(nanoseconds: bigint): number {
  const second = 1_000_000_000n;
  return Number(nanoseconds / second) + Number(nanoseconds % second) / 1e9;
}

export const unitFunctions: Readonly<Record<string, GoFunction>> = {
  bytes: ofText(bytes),
  duration: ofText(seconds),
  duration_seconds: ofText(seconds),
};
