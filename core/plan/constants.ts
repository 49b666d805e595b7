import type { BinaryExpr, MetricExpr } from '../logql/ast.js';
import { foldLiterals, isSetOp } from '../logql/fold.js';

/** The value of a metric expression that reads no logs, the same at every instant. */
export type Constant =
  | { readonly kind: 'scalar'; readonly value: number }
  /** A vector of one sample without labels; undefined when a comparison or set operation left none. */
  | { readonly kind: 'vector'; readonly value: number | undefined };

/** True for literals, vector() and operations between them. */
export function isConstant(expr: MetricExpr): boolean {
  switch (expr.kind) {
    case 'literal':
    case 'vector':
      return true;
    case 'binary':
      return isConstant(expr.left) && isConstant(expr.right);
    case 'range-aggregation':
    case 'vector-aggregation':
    case 'label-replace':
      return false;
  }
}

/** Evaluates what isConstant holds for. */
export function evaluateConstant(expr: MetricExpr): Constant {
  switch (expr.kind) {
    case 'literal':
      return { kind: 'scalar', value: expr.value };
    case 'vector':
      return { kind: 'vector', value: expr.value };
    case 'binary':
      return evaluateBinary(expr, evaluateConstant(expr.left), evaluateConstant(expr.right));
    case 'range-aggregation':
    case 'vector-aggregation':
    case 'label-replace':
      throw new Error(`${expr.kind} is no constant`);
  }
}

function evaluateBinary(expr: BinaryExpr, left: Constant, right: Constant): Constant {
  const { op } = expr;
  if (isSetOp(op)) {
    const chosen = {
      or: left.value ?? right.value,
      and: right.value === undefined ? undefined : left.value,
      unless: right.value === undefined ? left.value : undefined,
    };
    return { kind: 'vector', value: chosen[op] };
  }
  const kind = left.kind === 'scalar' && right.kind === 'scalar' ? 'scalar' : 'vector';
  if (left.value === undefined || right.value === undefined) return { kind: 'vector', value: undefined };
  const result = foldLiterals(op, left.value, right.value);
  if (kind === 'scalar') return { kind, value: result };
  if (!isComparison(op) || expr.returnBool) return { kind, value: result };
  // Without `bool` a comparison filters: it keeps the sample of the vector, the left one of two.
  const kept = left.kind === 'vector' ? left.value : right.value;
  return { kind, value: result === 1 ? kept : undefined };
}

function isComparison(op: string): boolean {
  return op === '==' || op === '!=' || op === '>' || op === '>=' || op === '<' || op === '<=';
}
