import { GoInt, type IntType } from './value.js';

const kept: readonly GoInt[] = Array.from({ length: 1024 }, (_unused, index) => new GoInt(BigInt(index)));

export const minInt64 = -(1n << 63n);
export const maxInt64 = (1n << 63n) - 1n;

/** A Go int of a small whole number such as a length or an index. */
export function smallInt(value: number): GoInt {
  return kept[value] ?? new GoInt(BigInt(value));
}

/** Wraps to 64 bits as Go's arithmetic does. */
export function wrapInt(value: bigint, type: IntType): GoInt {
  return new GoInt(BigInt.asIntN(64, value), type);
}

/** A float as whole number: cut, and the smallest one where it does not fit, as on amd64. */
export function floatToInt64(value: number): bigint {
  const whole = Math.trunc(value);
  return whole >= -(2 ** 63) && whole < 2 ** 63 ? BigInt(whole) : minInt64;
}

/** A Go int as a JavaScript number for counts, widths and indexes; far out of any use it stays far out. */
export function clampedNumber(value: bigint): number {
  return Number(value);
}
