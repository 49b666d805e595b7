import type { ArithmeticOp, BinaryOp, CompareOp } from '../ast.js';
import { foldLiterals } from '../fold.js';

/** Operators other than set operations. */
export type ValueOp = ArithmeticOp | CompareOp;

/** The result for two operands; undefined when a filtering comparison is false. */
export type Combine = (left: number, right: number) => number | undefined;

const compareOps: ReadonlySet<BinaryOp> = new Set(['==', '!=', '>', '>=', '<', '<=']);

export function isCompareOp(op: BinaryOp): op is CompareOp {
  return compareOps.has(op);
}

/**
 * The operation of an operator on two samples. A comparison without `bool` keeps a value where it is true: the left one, or the one that is
 * not a literal.
 */
export function combineOf(op: ValueOp, returnBool: boolean, keeps: 'left' | 'right' = 'left'): Combine {
  if (!isCompareOp(op) || returnBool) return (left, right) => foldLiterals(op, left, right);
  return (left, right) => {
    if (foldLiterals(op, left, right) === 0) return undefined;
    return keeps === 'left' ? left : right;
  };
}
