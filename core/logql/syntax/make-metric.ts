import type {
  Expr,
  Grouping,
  LabelReplaceExpr,
  LogRange,
  RangeOp,
  Span,
  BinaryOp,
  VectorMatching,
  VectorOp,
} from '../ast.js';
import { emptyMatcherFault } from '../check/faults.js';
import { rangeFunctions } from '../functions/range/index.js';
import { vectorFunctions } from '../functions/vector/index.js';
import { foldLiterals, isSetOp } from '../fold.js';
import { formatFloatFixed, maxInt64, parseGoFloat, type Parsed } from '../../base/time/index.js';
import { invalid, type Invalid, type Metric, nested, regexpFault } from './log-rules.js';

interface RangeHead {
  readonly op: RangeOp;
  readonly parameter: string | undefined;
  readonly grouping: Grouping | undefined;
}

export function makeRangeAggregation(head: RangeHead, range: LogRange, span: Span): Metric {
  const { op, grouping } = head;
  const parameter = head.parameter === undefined ? undefined : parseGoFloat(head.parameter);
  const fault = parameterFault(head, parameter) ?? rangeFault(head, range);
  if (fault !== undefined) return invalid(fault);
  const { selector } = range.query;
  const emptyFault = emptyMatcherFault(selector.matchers);
  if (emptyFault !== undefined) return invalid(emptyFault, false, selector.span);
  const value = parameter?.kind === 'ok' ? parameter.value : undefined;
  return { kind: 'range-aggregation', op, parameter: value, range, grouping, span };
}

function parameterFault(
  { op, parameter }: RangeHead,
  parsed: Parsed<number> | undefined,
): string | undefined {
  const isExpected = rangeFunctions[op].parameter === 'required';
  if (parameter === undefined) return isExpected ? `parameter required for operation ${op}` : undefined;
  if (!isExpected) return `parameter ${parameter} not supported for operation ${op}`;
  return parsed?.kind === 'bad' ? `invalid parameter for operation ${op}: ${parsed.error}` : undefined;
}

function rangeFault({ op, grouping }: RangeHead, range: LogRange): string | undefined {
  const known = rangeFunctions[op];
  if (grouping !== undefined && known.grouping === 'refused')
    return `grouping not allowed for ${op} aggregation`;
  if (range.unwrap === undefined)
    return known.ofLines === undefined ? `invalid aggregation ${op} without unwrap` : undefined;
  return known.ofValues === undefined ? `invalid aggregation ${op} with unwrap` : undefined;
}

interface VectorHead {
  readonly op: VectorOp;
  readonly parameter: string | undefined;
  readonly grouping: Grouping | undefined;
}

export function makeVectorAggregation(head: VectorHead, expr: Metric, span: Span): Metric {
  const fault = vectorFault(head);
  if (fault !== undefined) return invalid(fault);
  if (expr.kind === 'invalid') return nested(expr);
  const parameter = head.parameter === undefined ? undefined : Number(head.parameter);
  return { kind: 'vector-aggregation', op: head.op, parameter, grouping: head.grouping, expr, span };
}

function vectorFault({ op, parameter, grouping }: VectorHead): string | undefined {
  const known = vectorFunctions[op];
  const groupingFault = grouping && known.groupingFault?.(grouping);
  if (known.parameter === 'refused')
    return parameter === undefined
      ? groupingFault
      : `unsupported parameter for operation ${op}(${parameter},`;
  if (parameter === undefined) return `parameter required for operation ${op}`;
  // The parentheses in these two texts are unclosed in Loki as well.
  if (!/^[0-9]+$/.test(parameter) || BigInt(parameter) > maxInt64)
    return `invalid parameter ${op}(${parameter},`;
  if (BigInt(parameter) === 0n) return `invalid parameter (must be greater than 0) ${op}(${parameter}`;
  return groupingFault;
}

interface BinaryHow {
  readonly returnBool: boolean;
  readonly matching: VectorMatching | undefined;
}

export function makeBinary(
  op: BinaryOp,
  how: BinaryHow,
  left: Expr | Invalid,
  right: Expr | Invalid,
  span: Span,
): Metric {
  if (left.kind === 'log') return wrongLeg('left', op, left.stages.length);
  if (right.kind === 'log') return wrongLeg('right', op, right.stages.length);
  for (const leg of [left, right]) if (leg.kind === 'invalid' && leg.isLiteral) return nested(leg);
  if (isSetOp(op)) {
    for (const [leg, expr] of [
      ['left', left],
      ['right', right],
    ] as const) {
      if (expr.kind !== 'literal') continue;
      const value = formatFloatFixed(expr.value);
      return invalid(`unexpected literal for ${leg} leg of logical/set binary operation (${op}): ${value}`);
    }
  }
  if (left.kind === 'invalid') return left;
  if (right.kind === 'invalid') return right;
  if (left.kind === 'literal' && right.kind === 'literal' && !isSetOp(op)) {
    return { kind: 'literal', value: foldLiterals(op, left.value, right.value), span };
  }
  return { kind: 'binary', op, returnBool: how.returnBool, matching: how.matching, left, right, span };
}

function wrongLeg(leg: 'left' | 'right', op: BinaryOp, stageCount: number): Invalid {
  const type = stageCount === 0 ? '*syntax.MatchersExpr' : '*syntax.PipelineExpr';
  return invalid(`unexpected type for ${leg} leg of binary operation (${op}): ${type}`);
}

type ReplaceTexts = Pick<LabelReplaceExpr, 'destination' | 'replacement' | 'source' | 'regex'>;

export function makeLabelReplace(expr: Metric, texts: ReplaceTexts, span: Span): Metric {
  const fault = regexpFault(`^(?:${texts.regex})$`);
  if (fault !== undefined) return invalid(`invalid regex in label_replace: ${fault}`);
  return expr.kind === 'invalid' ? nested(expr) : { kind: 'label-replace', expr, ...texts, span };
}

export function makeVector(text: string, span: Span): Metric {
  const parsed = parseGoFloat(text);
  if (parsed.kind === 'bad') return invalid(`unable to parse vectorExpr as a float: ${parsed.error}`);
  return { kind: 'vector', value: parsed.value, span };
}
