import type { LineFilterOp, LineFilterStage, LineFilterTerm, Stage } from '../ast.js';
import { quoteGo } from '../../base/label-set.js';
import { stageFault, ipFault } from '../check/faults.js';
import { parsePattern } from '../pattern.js';
import { compileMeaning, lineMeaning, type TextTest } from '../pipeline/filter-test.js';
import { Meter } from '../pipeline/work-line.js';
import type { LineTest } from '../pipeline/types.js';
import { append, grammar, operator, token } from '../syntax/tokens.js';
import { regexpFault, stages } from '../syntax/log-rules.js';
import { alternativesIn, type StageDescriptor, usualTraits } from './stage.js';

/** `|= "text"` and its like. */
export const lineFilter: StageDescriptor<LineFilterStage> = {
  ...usualTraits,
  word: undefined,
  addRules,
  print: ({ op, alternatives }) => `${op} ${alternatives.map(printTerm).join(' or ')}`,
  // Loki only prints the first alternative.
  layout: {
    printAlone: ({ op, alternatives }) => `${op} ${alternatives.slice(0, 1).map(printTerm).join('')}`,
  },
  checks: ({ op, alternatives }) => alternatives.map((term) => () => termFault(op, term)),
  size: ({ alternatives }) => ({
    alternatives: alternatives.reduce((sum, { value }) => sum + alternativesIn(value), 0),
  }),
  exact: (stage) => ({ ...stage, isExact: true }),
  order: 'filter',
  readsLine: true,
  // A search for an empty text filters nothing.
  isFilter: ({ op, alternatives }) =>
    (op !== '|=' && op !== '|~') || alternatives.some(({ value }) => value !== ''),
  compile(stage, { meter }) {
    const test = compileLineFilter(stage, meter);
    return (work) => test(work.line);
  },
  whyHere: 'lineAfterChange',
};

function addRules(): void {
  const { lineContains, lineMatches, linePattern, matchesNot, lineNotPattern, string, open, close } = token;
  const filterOp = grammar.nonterminal<LineFilterOp>('line filter operator');
  const term = grammar.nonterminal<LineFilterTerm>('line filter term');
  const alternatives = grammar.nonterminal<LineFilterTerm[]>('line filter terms');
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

function printTerm({ kind, value }: LineFilterTerm): string {
  return kind === 'ip' ? `ip(${quoteGo(value)})` : quoteGo(value);
}

function termFault(op: LineFilterOp, { kind, value }: LineFilterTerm): string | undefined {
  if (kind === 'ip') return op === '|=' || op === '!=' ? ipFault(value) : 'ip: invalid operation';
  switch (op) {
    case '|~':
    case '!~':
      return regexpFault(value);
    case '|>':
    case '!>':
      return stageFault(() => parsePattern(value, 'filter'));
    case '|=':
    case '!=':
      return undefined;
  }
}

/** Compiles a line filter; its alternatives were checked when the query was parsed. */
export function compileLineFilter(stage: LineFilterStage, meter = new Meter()): TextTest {
  return compileMeaning(lineMeaning(stage), meter);
}

/** Splits off line filters before all other stages: they need no labels, so they run before labels are prepared. */
export function splitLineTests(
  all: readonly Stage[],
  meter: Meter,
): {
  readonly tests: readonly LineTest[];
  readonly rest: readonly Stage[];
} {
  const tests: LineTest[] = [];
  for (const stage of all) {
    if (stage.kind !== 'line-filter') break;
    tests.push(compileLineFilter(stage, meter));
  }
  return { tests, rest: all.slice(tests.length) };
}
