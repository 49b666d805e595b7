import type {
  LabelFormat,
  LabelItem,
  LineFilterOp,
  LineFilterStage,
  LineFilterTerm,
  ParserParam,
  Stage,
} from '../ast.js';
import { labelFilter, matcher, stages } from './log-rules.js';
import { checkPatternStage, checkRegexpStage } from './parser-stages.js';
import { grammar, operator, token } from './tokens.js';
import { append } from './append.js';

const { identifier, string, equal, comma, pipe, open, close } = token;

const filterOp = grammar.nonterminal<LineFilterOp>('line filter operator');
const term = grammar.nonterminal<LineFilterTerm>('line filter term');
const alternatives = grammar.nonterminal<LineFilterTerm[]>('line filter terms');
const stage = grammar.nonterminal<Stage>('stage');
const param = grammar.nonterminal<ParserParam>('parser parameter');
const params = grammar.nonterminal<ParserParam[]>('parser parameters');
const flags = grammar.nonterminal<Set<string>>('flags');
const assignment = grammar.nonterminal<LabelFormat>('assignment');
const assignments = grammar.nonterminal<LabelFormat[]>('assignments');
const item = grammar.nonterminal<LabelItem>('label');
const items = grammar.nonterminal<LabelItem[]>('labels');

/** Rules for all stages but label filters and unwrap. */
export function addStageRules(): void {
  addLineFilterRules();
  grammar.rule(stages)([pipe, stage], ([, made], span) => [{ ...made, span }]);
  grammar.rule(stage)([labelFilter], ([filter], span) => ({ kind: 'label-filter', filter, span }));
  addParserRules();
  addFormatRules();
  for (const kind of ['drop', 'keep'] as const) {
    grammar.rule(stage)([token[kind], items], ([, list], span) => ({ kind, items: list, span }));
  }
  grammar.rule(stage)([token.decolorize], (_, span) => ({ kind: 'decolorize', span }));
  grammar.rule(item)([identifier], ([name], span) => ({ name, matcher: undefined, span }));
  grammar.rule(item)([matcher], ([made], span) => ({ name: made.name, matcher: made, span }));
  grammar.rule(items)([item], ([first]) => [first]);
  grammar.rule(items)([items, comma, item], ([list, , next]) => append(list, next));
}

function addLineFilterRules(): void {
  const { lineContains, lineMatches, linePattern, matchesNot, lineNotPattern } = token;
  grammar.rule(filterOp)([lineContains], () => '|=');
  grammar.rule(filterOp)([operator('!=')], () => '!=');
  grammar.rule(filterOp)([lineMatches], () => '|~');
  grammar.rule(filterOp)([matchesNot], () => '!~');
  grammar.rule(filterOp)([linePattern], () => '|>');
  grammar.rule(filterOp)([lineNotPattern], () => '!>');
  grammar.rule(term)([string], ([value], span) => ({ kind: 'text', value, span }));
  grammar.rule(term)([token.ip, open, string, close], ([, , value], span) => ({ kind: 'ip', value, span }));
  grammar.rule(alternatives)([term], ([first]) => [first]);
  grammar.rule(alternatives)([alternatives, operator('or'), term], ([list, , next]) => append(list, next));
  grammar.rule(stages)([filterOp, alternatives], ([op, terms], span): readonly LineFilterStage[] => {
    if (!op.startsWith('!')) return [{ kind: 'line-filter', op, alternatives: terms, span }];
    return terms.map((made, index) => ({
      kind: 'line-filter',
      op,
      alternatives: [made],
      span: index === 0 ? { start: span.start, end: made.span.end } : made.span,
    }));
  });
}

function addParserRules(): void {
  const { json, logfmt, regexp, pattern, unpack } = token;
  const none: readonly ParserParam[] = [];
  const noFlags: ReadonlySet<string> = new Set();
  const makeLogfmt = (
    options: ReadonlySet<string>,
    list: readonly ParserParam[],
    span: ParserParam['span'],
  ): Stage => ({
    kind: 'logfmt',
    strict: options.has('--strict'),
    keepEmpty: options.has('--keep-empty'),
    params: list,
    span,
  });
  grammar.rule(stage)([json], (_, span) => ({ kind: 'json', params: none, span }));
  grammar.rule(stage)([json, params], ([, list], span) => ({ kind: 'json', params: list, span }));
  grammar.rule(stage)([logfmt], (_, span) => makeLogfmt(noFlags, none, span));
  grammar.rule(stage)([logfmt, flags], ([, options], span) => makeLogfmt(options, none, span));
  grammar.rule(stage)([logfmt, params], ([, list], span) => makeLogfmt(noFlags, list, span));
  grammar.rule(stage)([logfmt, flags, params], ([, options, list], span) => makeLogfmt(options, list, span));
  grammar.rule(stage)([regexp, string], ([, value], span) => {
    checkRegexpStage(value);
    return { kind: 'regexp', pattern: value, span };
  });
  grammar.rule(stage)([pattern, string], ([, value], span) => {
    checkPatternStage(value);
    return { kind: 'pattern', pattern: value, span };
  });
  grammar.rule(stage)([unpack], (_, span) => ({ kind: 'unpack', span }));

  grammar.rule(flags)([token.flag], ([flag]) => new Set([flag]));
  grammar.rule(flags)([flags, token.flag], ([set, flag]) => set.add(flag));
  grammar.rule(param)([identifier], ([name], span) => ({ name, path: name, span }));
  grammar.rule(param)([identifier, equal, string], ([name, , path], span) => ({ name, path, span }));
  grammar.rule(params)([param], ([first]) => [first]);
  grammar.rule(params)([params, comma, param], ([list, , next]) => append(list, next));
}

function addFormatRules(): void {
  const { lineFormat, labelFormat } = token;
  grammar.rule(stage)([lineFormat, string], ([, template], span) => ({
    kind: 'line-format',
    template,
    span,
  }));
  grammar.rule(stage)([labelFormat, assignments], ([, list], span) => ({
    kind: 'label-format',
    assignments: list,
    span,
  }));
  grammar.rule(assignment)([identifier, equal, identifier], ([name, , source], span) => ({
    kind: 'rename',
    name,
    source,
    span,
  }));
  grammar.rule(assignment)([identifier, equal, string], ([name, , template], span) => ({
    kind: 'template',
    name,
    template,
    span,
  }));
  grammar.rule(assignments)([assignment], ([first]) => [first]);
  grammar.rule(assignments)([assignments, comma, assignment], ([list, , next]) => append(list, next));
  // After an error here parsing continues: an invalid regexp further right is reported instead.
  grammar.rule(assignments)([assignments, comma, grammar.error], ([list]) => list);
}
