import type { ArithmeticOp, BinaryExpr, CompareOp } from '../../logql/ast.js';
import type { LogsqlFilter, MathExpr, MathOperator } from '../../victoria/logsql/ast.js';
import { and, compare, not, or } from '../../victoria/logsql/build.js';
import { type ColumnNames, type Draft, withValue } from './draft.js';
import { NotConvertible } from './not-convertible.js';

export function mathOperation(op: MathOperator, left: MathExpr, right: MathExpr): MathExpr {
  return { kind: 'binary', op, left, right };
}

/** @throws NotConvertible for a number that LogsQL would not read in the form in which it is written */
export function mathNumber(value: number): MathExpr {
  const text = decimalOf(Math.abs(value));
  const number: MathExpr = { kind: 'number', text };
  return value < 0 ? { kind: 'negate', operand: number } : number;
}

function decimalOf(value: number): string {
  const text = String(value);
  if (!/^-?\d+(?:\.\d+)?$/.test(text))
    throw new NotConvertible(`the number ${text} has no plain decimal form`);
  return text;
}

/** The series of a sum, which has no labels, and zero where it has none: `... or vector(0)`. */
export function withZero(draft: Draft): Draft {
  const [first] = draft.counted;
  const [condition, another] = draft.conditions;
  const isSum = draft.startsAtZero && draft.labels.length === 0 && draft.pipes.length === 0;
  if (!isSum || another !== undefined || condition !== first?.present)
    throw new NotConvertible(
      'or vector(0): only a sum without labels is zero in LogsQL if there are no rows',
    );
  return { ...draft, conditions: [], isPositive: false };
}

/** An operation between a series and a number. */
export function withNumber(
  { op, returnBool }: BinaryExpr,
  draft: Draft,
  number: number,
  side: 'left' | 'right',
  columns: ColumnNames,
): Draft {
  if (op === 'and' || op === 'or' || op === 'unless')
    throw new NotConvertible(`${op}: LogsQL has no operations between sets of series`);
  if (isComparison(op)) {
    if (returnBool) throw new NotConvertible(`${op} bool: LogsQL has no value for a comparison`);
    return compared(side === 'left' ? flipped[op] : op, draft, number, columns);
  }
  const operand = mathNumber(number);
  if (side === 'right' && op === '/' && number === 0)
    throw new NotConvertible('a division by zero has no value in LogsQL');
  const [left, right] = side === 'left' ? [operand, draft.value] : [draft.value, operand];
  if (side === 'left' && op === '/') requirePositive(draft);
  return {
    ...draft,
    value: mathOperation(arithmeticOf(op), left, right),
    isPositive: draft.isPositive && number > 0 && op !== '-',
    startsAtZero: draft.startsAtZero && side === 'right' && (op === '*' || op === '/'),
  };
}

/** An operation between two series with the same labels. */
export function combined({ op, matching }: BinaryExpr, left: Draft, right: Draft): Draft {
  if (op === 'and' || op === 'or' || op === 'unless')
    throw new NotConvertible(`${op}: LogsQL has no operations between sets of series`);
  if (isComparison(op)) throw new NotConvertible(`${op} between two results: LogsQL compares with a number`);
  if (left.pipes.length > 0 || right.pipes.length > 0)
    throw new NotConvertible(
      `${op} between results that were compared or aggregated again: LogsQL has one chain of steps`,
    );
  const names = left.labels.map(({ label }) => label);
  const isSame =
    names.length === right.labels.length && right.labels.every(({ label }) => names.includes(label));
  if (!isSame)
    throw new NotConvertible(`${op} between results with different labels: LogsQL has one grouping`);
  const { on = false, labels = [], group } = matching ?? {};
  const matchesAll = on
    ? names.every((name) => labels.includes(name))
    : !names.some((name) => labels.includes(name));
  if (group !== undefined || !matchesAll || (on && labels.some((name) => !names.includes(name))))
    throw new NotConvertible(`${op} with on, ignoring or group: LogsQL matches all labels`);
  if (op === '/') requirePositive(right);
  return {
    ...left,
    counted: [...left.counted, ...right.counted],
    conditions: [...left.conditions, ...right.conditions],
    value: mathOperation(arithmeticOf(op), left.value, right.value),
    isPositive: left.isPositive && right.isPositive && op !== '-',
    startsAtZero: false,
  };
}

function requirePositive({ isPositive }: Draft): void {
  if (!isPositive)
    throw new NotConvertible('a division by a result that may be zero has another value in LogsQL');
}

function arithmeticOf(op: ArithmeticOp): MathOperator {
  if (op === '%' || op === '^') throw new NotConvertible(`${op}: LogsQL computes it in another way`);
  return op;
}

function compared(op: CompareOp, draft: Draft, number: number, columns: ColumnNames): Draft {
  const { pipes, column } =
    draft.value.kind === 'field'
      ? { pipes: draft.pipes, column: draft.value.name }
      : withValue(draft, columns);
  const isAboveZero = (op === '>' && number >= 0) || (op === '>=' && number > 0);
  // A number of rows above zero says that there are rows.
  const isSaid = (one: LogsqlFilter): boolean =>
    isAboveZero && draft.counted.some(({ rows, present }) => rows === column && present === one);
  const open = draft.value.kind === 'field' ? draft.conditions.filter((one) => !isSaid(one)) : [];
  return {
    ...draft,
    pipes,
    conditions: [...open, comparisonOf(column, op, decimalOf(number))],
    value: { kind: 'field', name: column },
    isPositive: draft.isPositive || isAboveZero,
    startsAtZero: false,
  };
}

function comparisonOf(column: string, op: CompareOp, number: string): LogsqlFilter {
  switch (op) {
    case '==':
      return and(not(compare(column, '<', number)), not(compare(column, '>', number)));
    case '!=':
      return or(compare(column, '<', number), compare(column, '>', number));
    default:
      return compare(column, op, number);
  }
}

const flipped: Readonly<Record<CompareOp, CompareOp>> = {
  '==': '==',
  '!=': '!=',
  '>': '<',
  '>=': '<=',
  '<': '>',
  '<=': '>=',
};

function isComparison(op: BinaryExpr['op']): op is CompareOp {
  return Object.hasOwn(flipped, op);
}
