import type { BinaryOp, SetOp } from './ast.js';

export function isSetOp(op: BinaryOp): op is SetOp {
  return op === 'or' || op === 'and' || op === 'unless';
}

/** Folds an operation between two literals while parsing: division by zero gives NaN, a comparison 1 or 0. */
export function foldLiterals(op: Exclude<BinaryOp, SetOp>, left: number, right: number): number {
  switch (op) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0 ? NaN : left / right;
    case '%':
      return right === 0 ? NaN : left % right;
    case '^':
      return power(left, right);
    case '==':
      return left === right ? 1 : 0;
    case '!=':
      return left === right ? 0 : 1;
    case '>':
      return left > right ? 1 : 0;
    case '>=':
      return left >= right ? 1 : 0;
    case '<':
      return left < right ? 1 : 0;
    case '<=':
      return left <= right ? 1 : 0;
  }
}

/** Go's math.Pow: unlike in JavaScript, 1 to any power and -1 to an infinite power are 1. */
export function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
  return base ** exponent;
}
