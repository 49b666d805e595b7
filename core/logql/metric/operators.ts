import type { ArithmeticOp, BinaryOp, CompareOp } from '../ast.js';
import { foldLiterals } from '../fold.js';

/** Operators that are no set operations. */
export type ValueOp = ArithmeticOp | CompareOp;

/** Gives the value of two operands; undefined where a comparison that filters does not hold. */
export type Combine = (left: number, right: number) => number | undefined;

const compareOps: ReadonlySet<BinaryOp> = new Set(['==', '!=', '>', '>=', '<', '<=']);

export function isCompareOp(op: BinaryOp): op is CompareOp {
  return compareOps.has(op);
}

/**
 * What an operator makes of two samples. A comparison without `bool` keeps a value where it holds: the left one, or the one
 * that is no literal.
 */
export function combineOf(op: ValueOp, returnBool: boolean, keeps: 'left' | 'right' = 'left'): Combine {
  if (!isCompareOp(op) || returnBool) return (left, right) => foldLiterals(op, left, right);
  return (left, right) => {
    if (foldLiterals(op, left, right) === 0) return undefined;
    return keeps === 'left' ? left : right;
  };
}
