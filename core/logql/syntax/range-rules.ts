import type { LabelFilterStage, LogRange, Selector, Span, Stage, Unwrap, UnwrapConversion } from '../ast.js';
import { labelFilter, pipeline, selector } from './log-rules.js';
import { grammar, token } from './tokens.js';

interface Window {
  readonly interval: bigint;
  readonly offset: bigint;
}

const { identifier, open, close, pipe } = token;

export const logRange = grammar.nonterminal<LogRange>('log range');
const window = grammar.nonterminal<Window>('window');
const unwrap = grammar.nonterminal<Unwrap>('unwrap');
const unwrapped = grammar.nonterminal<Unwrap>('unwrap and filters');
const conversion = grammar.nonterminal<UnwrapConversion>('conversion');

/** Rules for the inside of a range function: the window may follow the selector, its pipeline or the unwrap. */
export function addRangeRules(): void {
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
  // After an error following the window parsing continues: an invalid regexp further right is reported instead.
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
