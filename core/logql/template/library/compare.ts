import { sprintf } from '../fmt/printf.js';
import { compareGoStrings } from '../../values/raw-bytes.js';
import { concrete, isTrue, typeName, type Concrete, type GoValue } from '../values.js';
import { GoError, type GoFunction } from './types.js';

type BasicKind = 'bool' | 'complex' | 'int' | 'uint' | 'float' | 'string' | 'other';

function basicKind(value: Concrete): BasicKind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'undefined':
      return 'other';
    case 'object':
      if (value.kind === 'int') return value.type === 'uint8' ? 'uint' : 'int';
      return value.kind === 'complex' ? 'complex' : 'other';
  }
}

/** Signed and unsigned numbers may be compared, other kinds only with themselves. */
function isComparable(a: BasicKind, b: BasicKind): boolean {
  return a === b || (isWhole(a) && isWhole(b));
}

function isWhole(kind: BasicKind): boolean {
  return kind === 'int' || kind === 'uint';
}

function incompatible(a: Concrete, b: Concrete): GoError {
  return new GoError(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);
}

/** True when the first equals any of the others. */
function equalsAny(first: GoValue, others: readonly GoValue[]): boolean {
  if (others.length === 0) throw new GoError('missing argument for comparison');
  return others.some((other) => equals(concrete(first), concrete(other)));
}

function equals(a: Concrete, b: Concrete): boolean {
  if (!isComparable(basicKind(a), basicKind(b))) {
    if (a === undefined || b === undefined) return false;
    throw incompatible(a, b);
  }
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  if (a.kind === 'int') return b.kind === 'int' && a.value === b.value;
  if (a.kind === 'complex') return b.kind === 'complex' && a.real === b.real && a.imaginary === b.imaginary;
  if (a.kind !== b.kind) {
    throw new GoError(sprintf('non-comparable types %s: %s, %s: %v', [a, typeName(a), typeName(b), b]));
  }
  if (a.kind !== 'time' || b.kind !== 'time') {
    throw new GoError(sprintf('non-comparable type %s: %s', [b, typeName(b)]));
  }
  return (
    a.unix === b.unix && a.nanosecond === b.nanosecond && a.zone === b.zone && a.monotonic === b.monotonic
  );
}

function isLess(first: GoValue, second: GoValue): boolean {
  const a = concrete(first);
  const b = concrete(second);
  const kindA = basicKind(a);
  const kindB = basicKind(b);
  const bad = new GoError('invalid type for comparison');
  if (kindA === 'other' || kindB === 'other') throw bad;
  if (!isComparable(kindA, kindB)) throw incompatible(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareGoStrings(a, b) < 0;
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  if (typeof a === 'object' && typeof b === 'object' && a.kind === 'int' && b.kind === 'int') {
    return a.value < b.value;
  }
  throw bad;
}

function isLessOrEqual(first: GoValue, second: GoValue): boolean {
  return isLess(first, second) || equalsAny(first, [second]);
}

function comparison(apply: (first: GoValue, second: GoValue) => boolean): GoFunction {
  return { parameters: ['value', 'value'], call: ([first, second]) => apply(first, second) };
}

/** Go's comparisons and logic on values. */
export const compareFunctions: Readonly<Record<string, GoFunction>> = {
  and: { parameters: ['value'], rest: 'value', shortCircuit: 'and', call: (args) => args.at(-1) },
  or: { parameters: ['value'], rest: 'value', shortCircuit: 'or', call: (args) => args.at(-1) },
  not: { parameters: ['value'], call: ([value]) => !isTrue(value) },
  eq: { parameters: ['value'], rest: 'value', call: ([first, ...others]) => equalsAny(first, others) },
  ne: comparison((first, second) => !equalsAny(first, [second])),
  lt: comparison(isLess),
  le: comparison(isLessOrEqual),
  gt: comparison((first, second) => !isLessOrEqual(first, second)),
  ge: comparison((first, second) => !isLess(first, second)),
};
