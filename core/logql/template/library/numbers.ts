import { wrapInt } from '../values/ints.js';
import { GoInt, type GoValue } from '../values/value.js';
import { toFloat64, toInt64 } from './convert.js';
import { add, divide, fromFloat, multiply, subtract, toFloat, type Decimal } from './decimal.js';
import { runtimeError, size, type GoFunction } from './types.js';

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

export const numberFunctions: readonly (readonly [string, GoFunction])[] = [
  ['int', { parameters: ['any'], call: ([value]) => new GoInt(toInt64(value)) }],
  ['float64', { parameters: ['any'], call: ([value]) => toFloat64(value) }],
  [
    'add',
    {
      parameters: [],
      rest: 'any',
      call: (args) =>
        wrapInt(
          args.reduce<bigint>((sum, arg) => sum + toInt64(arg), 0n),
          'int64',
        ),
    },
  ],
  ['mul', ints((a, b) => a * b)],
  ['max', ints((a, b) => (b > a ? b : a))],
  ['min', ints((a, b) => (b < a ? b : a))],
  ['sub', twoInts((a, b) => a - b)],
  ['div', twoInts((a, b) => a / nonZero(b))],
  ['mod', twoInts((a, b) => a % nonZero(b))],
  [
    'addf',
    {
      parameters: [],
      rest: 'any',
      stepsPerArgument: stepsPerDecimal,
      call: (args) => foldDecimals(0, args, add),
    },
  ],
  ['subf', decimals(subtract)],
  ['mulf', decimals(multiply)],
  ['divf', decimals(divide)],
  ['maxf', floats(maxFloat)],
  ['minf', floats(minFloat)],
  ['ceil', { parameters: ['any'], call: ([value]) => Math.ceil(toFloat64(value)) }],
  ['floor', { parameters: ['any'], call: ([value]) => Math.floor(toFloat64(value)) }],
  [
    'round',
    {
      parameters: ['any', 'int'],
      rest: 'float64',
      call: ([value, places, threshold]) =>
        round(toFloat64(value), size(places), typeof threshold === 'number' ? threshold : 0.5),
    },
  ],
];
