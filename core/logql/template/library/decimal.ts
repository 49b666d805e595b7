import { formatFloatShort } from '../../../base/time/index.js';
import { GoError } from './types.js';

/** coefficient * 10 ** exponent, exactly. */
export interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

/** Decimal places that a division is rounded to. */
const divisionPlaces = 16;

/** The decimal that a float prints as. */
export function fromFloat(value: number): Decimal {
  if (!Number.isFinite(value)) throw new GoError(`Cannot create a Decimal from ${formatFloatShort(value)}`);
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { coefficient: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

export function toFloat({ coefficient, exponent }: Decimal): number {
  return Number(`${coefficient.toString()}e${String(exponent)}`);
}

export function add(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent);
  return { coefficient: scaled(a, exponent) + scaled(b, exponent), exponent };
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, { coefficient: -b.coefficient, exponent: b.exponent });
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return { coefficient: a.coefficient * b.coefficient, exponent: a.exponent + b.exponent };
}

/** Rounds half away from zero. */
export function divide(a: Decimal, b: Decimal): Decimal {
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
