import { minInt64 } from '../../../base/time/index.js';
import { GoInt, type IntType } from './value.js';

const kept: readonly GoInt[] = Array.from({ length: 1024 }, (_unused, index) => new GoInt(BigInt(index)));

/** A Go int from a small whole number such as a length or an index. */
export function smallInt(value: number): GoInt {
  return kept[value] ?? new GoInt(BigInt(value));
}

/** Wraps to 64 bits as Go's arithmetic does. */
export function wrapInt(value: bigint, type: IntType): GoInt {
  return new GoInt(BigInt.asIntN(64, value), type);
}

/** A float as an integer: truncated, or the smallest integer when it does not fit, as on amd64. */
export function floatToInt64(value: number): bigint {
  const whole = Math.trunc(value);
  return whole >= -(2 ** 63) && whole < 2 ** 63 ? BigInt(whole) : minInt64;
}

/** A Go int as a JavaScript number for counts, widths and indexes; very large values are clamped. */
export function clampedNumber(value: bigint): number {
  return Number(value);
}
