import type { MathExpr, MathFunction, MathOperator, MathPipe } from '../../../../core/victoria/logsql/ast.js';
import { timeOf } from '../../../../core/victoria/logsql/eval/filter.js';
import { formatFloatPlain } from '../../../../core/base/time/index.js';
import { rangeNumber } from '../../../../core/victoria/logsql/range-number.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import { OverlayRow } from '../../../../core/victoria/logsql/ops/derived-row.js';
import { mapRows, type Operator, type PipeContext } from '../../../../core/victoria/logsql/ops/operator.js';

type Compute = (row: RowView) => number;

/** `math`: each entry can use the results of the entries before it; values that are not numbers are NaN. */
export function mathOperator(pipe: MathPipe, context: PipeContext, next: Operator): Operator {
  const entries = pipe.entries.map(({ expr, as }) => ({ as, compute: compile(expr, context) }));
  return mapRows(
    (row) =>
      entries.reduce<RowView>(
        (current, { as, compute }) =>
          new OverlayRow(current, new Map([[as, formatFloatPlain(compute(current))]])),
        row,
      ),
    next,
  );
}

function compile(expr: MathExpr, context: PipeContext): Compute {
  switch (expr.kind) {
    case 'number': {
      const value = rangeNumber(expr.text) ?? NaN;
      return () => value;
    }
    case 'field': {
      const { name } = expr;
      if (name === '_time') return (row) => Number(timeOf(row) ?? NaN);
      return (row) => rangeNumber(row.get(name)) ?? NaN;
    }
    case 'negate': {
      const operand = compile(expr.operand, context);
      return (row) => -operand(row);
    }
    case 'binary': {
      const left = compile(expr.left, context);
      const right = compile(expr.right, context);
      const apply = operators[expr.op];
      return (row) => apply(left(row), right(row));
    }
    case 'call': {
      const args = expr.args.map((arg) => compile(arg, context));
      const apply = functions[expr.name];
      return (row) =>
        apply(
          args.map((arg) => arg(row)),
          context,
        );
    }
  }
}

function bits(apply: (a: bigint, b: bigint) => bigint): (a: number, b: number) => number {
  return (a, b) => {
    if (!Number.isFinite(a) || !Number.isFinite(b)) return NaN;
    return Number(
      apply(BigInt.asUintN(64, BigInt(Math.trunc(a))), BigInt.asUintN(64, BigInt(Math.trunc(b)))),
    );
  };
}

const operators: Readonly<Record<MathOperator, (a: number, b: number) => number>> = {
  '^': (a, b) => a ** b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '&': bits((a, b) => a & b),
  xor: bits((a, b) => a ^ b),
  or: bits((a, b) => a | b),
  default: (a, b) => (Number.isNaN(a) ? b : a),
};

function best(args: readonly number[], better: (a: number, b: number) => boolean): number {
  return args.reduce((found, value) => (Number.isNaN(found) || better(value, found) ? value : found), NaN);
}

// Rounds half away from zero.
function round(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}

const functions: Readonly<Record<MathFunction, (args: readonly number[], context: PipeContext) => number>> = {
  abs: ([x = NaN]) => Math.abs(x),
  ceil: ([x = NaN]) => Math.ceil(x),
  exp: ([x = NaN]) => Math.exp(x),
  floor: ([x = NaN]) => Math.floor(x),
  ln: ([x = NaN]) => Math.log(x),
  max: (args) => best(args, (a, b) => a > b),
  min: (args) => best(args, (a, b) => a < b),
  now: (_, { nowNs }) => (nowNs === undefined ? Date.now() * 1e6 : Number(nowNs)),
  rand: () => Math.random(),
  round: ([x = NaN, nearest]) => {
    if (nearest === undefined) return round(x);
    const rounded = round(x / nearest) * nearest;
    return Number.isInteger(rounded) ? rounded : Number(rounded.toPrecision(15));
  },
};
