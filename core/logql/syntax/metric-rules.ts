import type {
  BinaryOp,
  Expr,
  Grouping,
  LabelFilterStage,
  LogRange,
  RangeOp,
  Selector,
  Span,
  Stage,
  Unwrap,
  UnwrapConversion,
  VectorMatching,
} from '../ast.js';
import { parseGoFloat } from '../../base/time/index.js';
import { append, grammar, operator, token } from './tokens.js';
import {
  invalid,
  type Invalid,
  labelFilter,
  logQuery,
  type Metric,
  pipeline,
  selector,
} from './log-rules.js';
import {
  makeBinary,
  makeLabelReplace,
  makeRangeAggregation,
  makeVector,
  makeVectorAggregation,
} from './make-metric.js';

/** A number literal with its sign applied, or the reason why it is invalid. */
export type NumberText =
  { readonly ok: true; readonly value: number } | { readonly ok: false; readonly error: string };

const { identifier, string, comma, open, close, pipe } = token;

/** A query of either kind: the whole text, or an operand of a binary operator. */
export const query = grammar.nonterminal<Expr | Invalid>('query');
export const number = grammar.nonterminal<NumberText>('number');
const metric = grammar.nonterminal<Metric>('metric');
const labels = grammar.nonterminal<readonly string[]>('labels');
const labelList = grammar.nonterminal<string[]>('label list');
const grouping = grammar.nonterminal<Grouping>('grouping');
const modifier = grammar.nonterminal<{ returnBool: boolean; matching: VectorMatching | undefined }>(
  'modifier',
);
const boolModifier = grammar.nonterminal<boolean>('bool modifier');
const matching = grammar.nonterminal<VectorMatching>('matching');

const binaryOps: readonly BinaryOp[] = [
  ...(['or', 'and', 'unless', '==', '!=', '<', '<=', '>', '>='] as const),
  ...(['+', '-', '*', '/', '%', '^'] as const),
];

/** Rules for everything that produces samples, and for a query as a whole. */
export function addMetricRules(): void {
  grammar.rule(query)([logQuery], ([made]) => made);
  grammar.rule(query)([metric], ([made]) => made);
  grammar.rule(metric)([open, metric, close], ([, inner]) => inner);
  addNumberRules();
  addRangeRules();
  addAggregationRules();
  addBinaryRules();
  grammar.rule(metric)(
    [token.labelReplace, open, metric, comma, string, comma, string, comma, string, comma, string, close],
    ([, , expr, , destination, , replacement, , source, , regex], span) =>
      makeLabelReplace(expr, { destination, replacement, source, regex }, span),
  );
  grammar.rule(metric)([token.vector, open, token.number, close], ([, , text], span) =>
    makeVector(text, span),
  );
}

function addNumberRules(): void {
  grammar.rule(number)([token.number], ([text]) => readNumber(text));
  grammar.rule(number)([operator('+'), token.number], ([, text]) => readNumber(text));
  grammar.rule(number)([operator('-'), token.number], ([, text]) => {
    const read = readNumber(text);
    return read.ok ? { ok: true, value: -read.value } : read;
  });
  grammar.rule(metric)([number], ([read], span) =>
    read.ok ? { kind: 'literal', value: read.value, span } : invalid(read.error, true),
  );
}

function readNumber(text: string): NumberText {
  const parsed = parseGoFloat(text);
  return parsed.kind === 'ok'
    ? { ok: true, value: parsed.value }
    : { ok: false, error: `unable to parse literal as a float: ${parsed.error}` };
}

function addAggregationRules(): void {
  const { rangeOp, vectorOp } = token;
  const range = (op: RangeOp, parameter: string | undefined, group: Grouping | undefined) =>
    ({ op, parameter, grouping: group }) as const;
  grammar.rule(metric)([rangeOp, open, logRange, close], ([op, , inner], span) =>
    makeRangeAggregation(range(op, undefined, undefined), inner, span),
  );
  grammar.rule(metric)([rangeOp, open, token.number, comma, logRange, close], ([op, , text, , inner], span) =>
    makeRangeAggregation(range(op, text, undefined), inner, span),
  );
  grammar.rule(metric)([rangeOp, open, logRange, close, grouping], ([op, , inner, , group], span) =>
    makeRangeAggregation(range(op, undefined, group), inner, span),
  );
  grammar.rule(metric)(
    [rangeOp, open, token.number, comma, logRange, close, grouping],
    ([op, , text, , inner, , group], span) => makeRangeAggregation(range(op, text, group), inner, span),
  );

  grammar.rule(metric)([vectorOp, open, metric, close], ([op, , expr], span) =>
    makeVectorAggregation({ op, parameter: undefined, grouping: undefined }, expr, span),
  );
  grammar.rule(metric)([vectorOp, grouping, open, metric, close], ([op, group, , expr], span) =>
    makeVectorAggregation({ op, parameter: undefined, grouping: group }, expr, span),
  );
  grammar.rule(metric)([vectorOp, open, metric, close, grouping], ([op, , expr, , group], span) =>
    makeVectorAggregation({ op, parameter: undefined, grouping: group }, expr, span),
  );
  grammar.rule(metric)(
    [vectorOp, open, token.number, comma, metric, close],
    ([op, , parameter, , expr], span) =>
      makeVectorAggregation({ op, parameter, grouping: undefined }, expr, span),
  );
  grammar.rule(metric)(
    [vectorOp, open, token.number, comma, metric, close, grouping],
    ([op, , parameter, , expr, , group], span) =>
      makeVectorAggregation({ op, parameter, grouping: group }, expr, span),
  );
  grammar.rule(metric)(
    [vectorOp, grouping, open, token.number, comma, metric, close],
    ([op, group, , parameter, , expr], span) =>
      makeVectorAggregation({ op, parameter, grouping: group }, expr, span),
  );

  for (const [kind, without] of [
    [token.by, false],
    [token.without, true],
  ] as const) {
    grammar.rule(grouping)([kind, labels], ([, list], span) => ({ without, labels: list, span }));
  }
  grammar.rule(labels)([open, close], () => []);
  grammar.rule(labels)([open, labelList, close], ([, list]) => list);
  grammar.rule(labelList)([identifier], ([first]) => [first]);
  grammar.rule(labelList)([labelList, comma, identifier], ([list, , next]) => append(list, next));
}

function addBinaryRules(): void {
  for (const op of binaryOps) {
    grammar.rule(metric)([query, operator(op), modifier, query], ([left, , how, right], span) =>
      makeBinary(op, how, left, right, span),
    );
  }
  grammar.rule(boolModifier)([], () => false);
  grammar.rule(boolModifier)([token.bool], () => true);
  grammar.rule(modifier)([boolModifier], ([returnBool]) => ({ returnBool, matching: undefined }));
  grammar.rule(modifier)([boolModifier, matching], ([returnBool, made]) => ({ returnBool, matching: made }));
  grammar.rule(modifier)([boolModifier, matching, token.groupLeft], ([returnBool, made], span) => ({
    returnBool,
    matching: { ...made, group: 'left', span },
  }));
  grammar.rule(modifier)([boolModifier, matching, token.groupRight], ([returnBool, made], span) => ({
    returnBool,
    matching: { ...made, group: 'right', span },
  }));
  grammar.rule(modifier)(
    [boolModifier, matching, token.groupLeft, labels],
    ([returnBool, made, , include], span) => ({
      returnBool,
      matching: { ...made, group: 'left', include, span },
    }),
  );
  grammar.rule(modifier)(
    [boolModifier, matching, token.groupRight, labels],
    ([returnBool, made, , include], span) => ({
      returnBool,
      matching: { ...made, group: 'right', include, span },
    }),
  );
  for (const [kind, on] of [
    [token.on, true],
    [token.ignoring, false],
  ] as const) {
    grammar.rule(matching)([kind, labels], ([, list], span) => ({
      on,
      labels: list,
      group: undefined,
      include: [],
      span,
    }));
  }
}

interface Window {
  readonly interval: bigint;
  readonly offset: bigint;
}

const logRange = grammar.nonterminal<LogRange>('log range');
const window = grammar.nonterminal<Window>('window');
const unwrap = grammar.nonterminal<Unwrap>('unwrap');
const unwrapped = grammar.nonterminal<Unwrap>('unwrap and filters');
const conversion = grammar.nonterminal<UnwrapConversion>('conversion');

/** Rules for the operand of a range function: the window may follow the selector, its pipeline or the unwrap. */
function addRangeRules(): void {
  grammar.rule(window)([token.range], ([interval]) => ({ interval, offset: 0n }));
  grammar.rule(window)([token.range, token.offset, token.duration], ([interval, , offset]) => ({
    interval,
    offset,
  }));
  addUnwrapRules();

  const noStages: readonly Stage[] = [];
  grammar.rule(logRange)([selector, window], ([s, w], span) => make(s, noStages, undefined, w, span));
  grammar.rule(logRange)([selector, window, pipeline], ([s, w, p], span) => make(s, p, undefined, w, span));
  grammar.rule(logRange)([selector, window, unwrapped], ([s, w, u], span) => make(s, noStages, u, w, span));
  grammar.rule(logRange)([selector, window, pipeline, unwrapped], ([s, w, p, u], span) =>
    make(s, p, u, w, span),
  );
  grammar.rule(logRange)([selector, pipeline, window], ([s, p, w], span) => make(s, p, undefined, w, span));
  grammar.rule(logRange)([selector, unwrapped, window], ([s, u, w], span) => make(s, noStages, u, w, span));
  grammar.rule(logRange)([selector, pipeline, unwrapped, window], ([s, p, u, w], span) =>
    make(s, p, u, w, span),
  );

  grammar.rule(logRange)([open, logRange, close], ([, inner]) => inner);
  grammar.rule(logRange)([open, selector, close, window], ([, s, , w], span) =>
    make(s, noStages, undefined, w, span),
  );
  grammar.rule(logRange)([open, selector, close, window, unwrapped], ([, s, , w, u], span) =>
    make(s, noStages, u, w, span),
  );
  grammar.rule(logRange)([open, selector, pipeline, close, window], ([, s, p, , w], span) =>
    make(s, p, undefined, w, span),
  );
  grammar.rule(logRange)([open, selector, unwrapped, close, window], ([, s, u, , w], span) =>
    make(s, noStages, u, w, span),
  );
  grammar.rule(logRange)([open, selector, pipeline, unwrapped, close, window], ([, s, p, u, , w], span) =>
    make(s, p, u, w, span),
  );
  // Parsing continues after an error behind the window: an invalid regexp further right is reported instead.
  grammar.rule(logRange)([logRange, grammar.error], ([inner]) => inner);
}

function addUnwrapRules(): void {
  grammar.rule(conversion)([token.bytesConversion], ([name]) => name);
  grammar.rule(conversion)([token.durationConversion], ([name]) => name);
  grammar.rule(conversion)([token.secondsConversion], ([name]) => name);
  grammar.rule(unwrap)([pipe, token.unwrap, identifier], ([, , name], span) => ({
    kind: 'unwrap',
    name,
    conversion: undefined,
    filters: [],
    span,
  }));
  grammar.rule(unwrap)(
    [pipe, token.unwrap, conversion, open, identifier, close],
    ([, , how, , name], span) => ({
      kind: 'unwrap',
      name,
      conversion: how,
      filters: [],
      span,
    }),
  );
  grammar.rule(unwrapped)([unwrap], ([made]) => made);
  grammar.rule(unwrapped)([unwrapped, pipe, labelFilter], ([made, , filter], span) => {
    const stage: LabelFilterStage = {
      kind: 'label-filter',
      filter,
      span: { start: made.span.end, end: span.end },
    };
    return { ...made, filters: [...made.filters, stage], span };
  });
}

function make(
  selectorMade: Selector,
  stages: readonly Stage[],
  unwrapMade: Unwrap | undefined,
  { interval, offset }: Window,
  span: Span,
): LogRange {
  const end = stages.at(-1)?.span.end ?? selectorMade.span.end;
  return {
    kind: 'log-range',
    query: { kind: 'log', selector: selectorMade, stages, span: { start: selectorMade.span.start, end } },
    unwrap: unwrapMade,
    intervalNanoseconds: interval,
    offsetNanoseconds: offset,
    span,
  };
}
