import type { MathExpr, MathOperator } from './ast.js';
import { InexpressibleNameError, quoteListed, quoteText } from './literals.js';

// The grammar parses such a name as a number even when quoted.
const numberLike = /^(?:\.?\d|inf$)/i;

/** Operator precedence; operators with a smaller number bind first. */
export const mathPriority: Readonly<Record<MathOperator, number>> = {
  '^': 1,
  '*': 2,
  '/': 2,
  '%': 2,
  '+': 3,
  '-': 3,
  '&': 4,
  xor: 5,
  or: 6,
  default: 10,
};

/** Prints a `math` expression with parentheses around every operand that is an operation itself. */
export function printMath(expr: MathExpr): string {
  switch (expr.kind) {
    case 'number':
      return expr.text;
    case 'field':
      if (numberLike.test(expr.name)) {
        throw new InexpressibleNameError(
          `the field name ${quoteText(expr.name)} cannot be used in math, since it reads as a number`,
        );
      }
      return quoteListed({ kind: 'name', name: expr.name });
    case 'negate':
      return `-${printOperand(expr.operand)}`;
    case 'binary':
      return `${printOperand(expr.left)} ${expr.op} ${printOperand(expr.right)}`;
    case 'call':
      return `${expr.name}(${expr.args.map(printMath).join(', ')})`;
  }
}

function printOperand(expr: MathExpr): string {
  return expr.kind === 'binary' || expr.kind === 'negate' ? `(${printMath(expr)})` : printMath(expr);
}
