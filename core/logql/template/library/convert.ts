import { parseGoFloat, maxInt64, minInt64 } from '../../../base/time/index.js';
import { floatToInt64 } from '../values/ints.js';
import { concrete, type GoValue } from '../values/value.js';

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
export function toInt64(boxed: GoValue): bigint {
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
export function toFloat64(boxed: GoValue): number {
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
