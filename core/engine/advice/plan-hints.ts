import type { Expr, LogExpr, Matcher } from '../../logql/ast.js';
import { logQueriesOf, printStage, visit, type AstNode } from '../../logql/index.js';
import { labelMeaning } from '../../logql/pipeline/filter-test.js';
import { descriptorOf } from '../../logql/stages/index.js';
import { isAny } from '../../logql/stages/stage.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import { serviceNameLabel } from '../../victoria/names/service-name.js';
import type { QueryExplanation } from '../plan/explain/explain.js';
import type { RuleId } from '../plan/rules/index.js';
import type { AdviceRule, FoundAdvice } from './advice.js';
import { readsRows } from './savings.js';

/** Advice about a part of a query on which one of these pushdown rules has decided. */
function onPushdown(
  { id, title, rules }: Pick<AdviceRule, 'id' | 'title'> & { readonly rules: readonly RuleId[] },
  advice: FoundAdvice,
): AdviceRule {
  const find: AdviceRule['find'] = (_, { explanation }) =>
    rules.some((rule) => rulesOf(explanation).has(rule)) ? advice : undefined;
  return { id, title, find };
}

function rulesOf({ reads }: QueryExplanation): ReadonlySet<RuleId> {
  return new Set(reads.flatMap(({ parts }) => parts.map(({ rule }) => rule)));
}

export const pushdownOff: AdviceRule = onPushdown(
  { id: 'pushdown-off', title: 'Pushdown is switched off', rules: ['metricOff'] },
  {
    text: 'Pushdown is switched off in this pipeline (option pushdown of translate): the backend only selects streams.',
  },
);

const selectsEverything: AdviceRule = {
  id: 'wide-selector',
  title: 'No label narrows the search',
  find: (expr) =>
    logQueriesOf(expr).every(({ selector }) => selector.matchers.some(narrows))
      ? undefined
      : {
          text: 'No label narrows the search: all streams are looked at. Name a value of a label.',
          example: '{service_name="checkout"}',
        },
};

/** True if a matcher asks for specific values: anything except "present", "missing" and "not this value". */
function narrows({ op, value, name, span }: Matcher): boolean {
  const { tests, isNegated } = labelMeaning({ kind: 'string', name, op, value, span });
  if (isNegated) return false;
  return tests.every((test) => {
    if (test.kind === 'all' || test.kind === 'not-empty') return false;
    return test.kind !== 'equals' || test.text !== '';
  });
}

/** Matches values that contain the same text in any notation. */
const plainValue = /^[A-Za-z0-9][A-Za-z0-9_.:-]{2,60}$/;

/** Labels that the proxy derives; the line may not contain their values. */
const derived: ReadonlySet<string> = new Set([detectedLevelName, serviceNameLabel]);

/** A comparison of a parsed label for which the backend searches no text, and no line filter does either. */
const parsesBeforeItFilters: AdviceRule = {
  id: 'filter-after-parser',
  title: 'Lines are parsed that a line filter could leave out',
  find(expr, { explanation }) {
    for (const query of logQueriesOf(expr)) {
      const found = unsearchedValue(query, explanation);
      if (found !== undefined)
        return {
          text: `Every line of the selection is parsed here to look at ${found.name}. A line filter in front of the parser lets the backend leave out lines without the value, if lines contain it unchanged.`,
          example: `|= ${JSON.stringify(found.value)}`,
        };
    }
    return undefined;
  },
};

function unsearchedValue(
  { stages }: LogExpr,
  { reads }: QueryExplanation,
): { readonly name: string; readonly value: string } | undefined {
  const first = stages.findIndex((stage) => descriptorOf(stage).source(stage) !== undefined);
  if (first === -1) return undefined;
  const inFront = stages.slice(0, first);
  const searched = inFront.flatMap((stage) => (stage.kind === 'line-filter' ? stage.alternatives : []));
  const parts = reads.flatMap((read) => read.parts);
  for (const stage of stages.slice(first)) {
    if (stage.kind !== 'label-filter' || stage.filter.kind !== 'string' || stage.filter.op !== '=') continue;
    const { name, value } = stage.filter;
    if (derived.has(name) || !plainValue.test(value) || searched.some((term) => term.value.includes(value)))
      continue;
    const text = printStage(stage);
    if (parts.some(({ part, rule }) => part === text && rule === 'labelParsed')) return { name, value };
  }
  return undefined;
}

/** A value that is unwrapped from a label that no earlier stage creates. */
const unwrapsUnparsed: AdviceRule = {
  id: 'unwrap-unparsed',
  title: 'No stage makes the label that is unwrapped',
  find(expr) {
    let found: FoundAdvice | undefined;
    visit(expr, (node: AstNode) => {
      if (node.kind !== 'log-range' || node.unwrap === undefined) return;
      const { stages } = node.query;
      if (stages.some((stage) => isAny(descriptorOf(stage).makes(stage)))) return;
      found ??= {
        text: `Nothing in front of unwrap reads the line: ${node.unwrap.name} can only be a label or structured metadata. If the line contains it, add a parser.`,
        example: '| logfmt',
      };
    });
    return found;
  },
};

const unwrapsAllRows: AdviceRule = {
  id: 'unwrap-all-rows',
  title: 'All rows of the selection are read for a value',
  find(expr, { explanation }) {
    if (!rulesOf(explanation).has('metricUnwrap') || !explanation.reads.some(readsRows)) return undefined;
    return hasLineFilter(expr)
      ? undefined
      : {
          text: 'unwrap reads every row of the selection. A line filter in front leaves out rows without the value.',
          example: '|= "duration="',
        };
  },
};

function hasLineFilter(expr: Expr): boolean {
  return logQueriesOf(expr).some(({ stages }) => stages.some(({ kind }) => kind === 'line-filter'));
}

/** Advice that rewrites nothing, because only people know what they look for. */
export const planHints: readonly AdviceRule[] = [
  selectsEverything,
  parsesBeforeItFilters,
  onPushdown(
    { id: 'any-case', title: 'A filter ignores case', rules: ['lineAnyCase'] },
    {
      text: 'A filter that ignores case is a pattern that the backend tries on every line. Where lines spell the word one way, that spelling is looked up instead.',
      example: '|= "Timeout"',
    },
  ),
  onPushdown(
    { id: 'matches-all', title: 'A pattern matches every line', rules: ['lineRegexpAll'] },
    {
      text: 'A pattern matches the empty text, so it lets every line pass: leave it out, or say what must be there.',
    },
  ),
  onPushdown(
    {
      id: 'negated-filter',
      title: 'A negated filter is evaluated on every row',
      rules: ['linePatternNot', 'lineRegexpDotsNot'],
    },
    {
      text: 'This negated filter is tried here on every row. Name a text that must not occur, which the backend can sort out.',
      example: '!= "text"',
    },
  ),
  onPushdown(
    {
      id: 'no-grouping',
      title: 'Every combination of structured metadata is a series',
      rules: ['metricIdentity'],
    },
    {
      text: 'Without sum by (…) every combination of structured metadata is a series of its own. With the labels that you want the backend only counts those.',
      example: 'sum by (service_name) (…)',
    },
  ),
  unwrapsUnparsed,
  unwrapsAllRows,
];
