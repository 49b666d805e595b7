import type { Expr, LogExpr, Matcher } from '../../core/logql/ast.js';
import { logQueriesOf, visit, type AstNode } from '../../core/logql/index.js';
import { descriptorOf } from '../../core/logql/stages/index.js';
import { isAny } from '../../core/logql/stages/stage.js';
import { labelMeaning } from '../../core/logql/pipeline/filter-meaning.js';
import type { QueryExplanation } from '../../core/engine/plan/explain/explain.js';

/** A way to make a query cheaper; `example` is a text to write, if there is one. */
export interface Hint {
  readonly text: string;
  readonly example?: string;
}

type Facts = Pick<QueryExplanation, 'reads'>;

/** Hints that make a query cheaper, limited to what its plan shows for certain: every sentence is true for this query. */
export function hintsOf(ast: Expr, facts: Facts): readonly Hint[] {
  const rules = new Set(facts.reads.flatMap(({ parts }) => parts.map(({ rule }) => rule)));
  if (rules.has('metricOff'))
    return [
      {
        text: 'Pushdown is switched off in this pipeline (option pushdown of translate): the backend only selects streams.',
      },
    ];
  const logs = logQueriesOf(ast);
  const hints: (Hint | undefined)[] = [
    ...logs.map(selectsEverything),
    ...logs.map(parsesBeforeItFilters),
    rules.has('lineAnyCase')
      ? {
          text: 'A filter that ignores case is a pattern that the backend tries on every line. Where lines spell the word one way, that spelling is looked up instead.',
          example: '|= "Timeout"',
        }
      : undefined,
    rules.has('lineRegexpAll')
      ? {
          text: 'A pattern matches the empty text, so it lets every line pass: leave it out, or say what must be there.',
        }
      : undefined,
    rules.has('linePatternNot') || rules.has('lineRegexpDotsNot')
      ? {
          text: 'This negated filter is tried here on every row. Name a text that must not occur, which the backend can sort out.',
          example: '!= "text"',
        }
      : undefined,
    rules.has('metricIdentity')
      ? {
          text: 'Without sum by (…) every combination of structured metadata is a series of its own. With the labels that you want the backend only counts those.',
          example: 'sum by (service_name) (…)',
        }
      : undefined,
    unwrapsUnparsed(ast),
    rules.has('metricUnwrap') && !hasLineFilter(logs)
      ? {
          text: 'unwrap reads every row of the selection. A line filter in front leaves out rows without the value.',
          example: '|= "duration="',
        }
      : undefined,
  ];
  const texts = new Set<string>();
  return hints.filter((hint): hint is Hint => {
    if (hint === undefined || texts.has(hint.text)) return false;
    texts.add(hint.text);
    return true;
  });
}

function hasLineFilter(logs: readonly LogExpr[]): boolean {
  return logs.some(({ stages }) => stages.some(({ kind }) => kind === 'line-filter'));
}

function selectsEverything({ selector }: LogExpr): Hint | undefined {
  if (selector.matchers.some(narrows)) return undefined;
  return {
    text: 'No label narrows the search: all streams are looked at. Name a value of a label.',
    example: '{service_name="checkout"}',
  };
}

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

/** A hint if a parsed label is compared with a text that no filter before the parser searches for. */
function parsesBeforeItFilters({ stages }: LogExpr): Hint | undefined {
  const first = stages.findIndex((stage) => descriptorOf(stage).source(stage) !== undefined);
  if (first === -1) return undefined;
  const inFront = stages.slice(0, first);
  const asked = inFront.flatMap((stage) => (stage.kind === 'line-filter' ? stage.alternatives : []));
  for (const stage of stages.slice(first)) {
    if (stage.kind !== 'label-filter' || stage.filter.kind !== 'string' || stage.filter.op !== '=') continue;
    const { name, value } = stage.filter;
    if (name === 'detected_level' || name === 'service_name' || !plainValue.test(value)) continue;
    if (asked.some((term) => term.value.includes(value))) return undefined;
    return {
      text: `Every line of the selection is parsed here to look at ${name}. A line filter in front of the parser lets the backend leave out lines without the word, if it stands in them as it is.`,
      example: `|= ${JSON.stringify(value)}`,
    };
  }
  return undefined;
}

/** A hint if a value is unwrapped from a label that no earlier stage creates. */
function unwrapsUnparsed(ast: Expr): Hint | undefined {
  let hint: Hint | undefined;
  visit(ast, (node: AstNode) => {
    if (node.kind !== 'log-range' || node.unwrap === undefined) return;
    const { stages } = node.query;
    if (stages.some((stage) => isAny(descriptorOf(stage).makes(stage)))) return;
    hint ??= {
      text: `Nothing in front of unwrap reads the line: ${node.unwrap.name} can only be a label or structured metadata. If it stands in the line, it has to be parsed.`,
      example: '| logfmt',
    };
  });
  return hint;
}
