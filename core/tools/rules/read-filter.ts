import { doAll } from '../../base/pace/steps.js';
import type { LabelFilter, LineFilterStage, LogExpr, Stage, StringLabelFilter } from '../../logql/ast.js';
import { printLabelFilter, printStage } from '../../logql/index.js';
import { isComparison } from '../../logql/pipeline/label-comparison.js';
import { type FilterTest, labelMeaning } from '../../logql/pipeline/filter-test.js';
import { compileRegExp } from '../../logql/regexp/index.js';
import { descriptorOf } from '../../logql/stages/index.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, exact, not, or, present, regexp, substring } from '../../victoria/logsql/build.js';
import { isBroken } from '../../victoria/names/shown-value.js';
import { aggregateLabels } from '../../victoria/names/stream-identity.js';
import { wholeLinePattern } from '../../engine/plan/backend-pattern.js';
import { decideLineFilter, planMatchers } from '../../engine/plan/logs.js';
import { stageRules } from '../../engine/plan/rules/stage.js';
import { NotConvertible } from './not-convertible.js';
import type { StoredLabels } from './stored-labels.js';

/** The rows of a log query as LogsQL: its streams, and the condition on their rows. */
export interface ReadFilter {
  readonly selection: LogsqlFilter;
  readonly condition: LogsqlFilter;
}

/** @throws NotConvertible if the backend alone cannot decide which rows pass */
export function readFilterOf({ selector, stages }: LogExpr, labels: StoredLabels): ReadFilter {
  if (selector.matchers.some(({ name }) => aggregateLabels.includes(name)))
    throw new NotConvertible('streams that components of Loki write are shown to Logs Drilldown only');
  for (const { name } of selector.matchers) labels.knownFieldsOf(name);
  // Selectors are never evaluated in the proxy, so all rules about them are exact.
  const { filter: selection } = doAll(planMatchers(selector.matchers, labels.context));
  return { selection, condition: and(...stages.map((stage) => conditionOf(stage, labels))) };
}

function conditionOf(stage: Stage, labels: StoredLabels): LogsqlFilter {
  switch (stage.kind) {
    case 'line-filter':
      return lineCondition(stage);
    case 'label-filter':
      return labelCondition(stage.filter, labels);
    default: {
      const { reason } = stageRules[descriptorOf(stage).whyHere];
      throw new NotConvertible(`${printStage(stage)}: ${reason}`);
    }
  }
}

function lineCondition(stage: LineFilterStage): LogsqlFilter {
  const { rule, filter } = decideLineFilter(stage);
  if (rule.verdict !== 'exact') throw new NotConvertible(`${printStage(stage)}: ${rule.reason}`);
  return filter;
}

function labelCondition(filter: LabelFilter, labels: StoredLabels): LogsqlFilter {
  if (!isComparison(filter)) {
    const sides = [labelCondition(filter.left, labels), labelCondition(filter.right, labels)];
    return filter.kind === 'or' ? or(...sides) : and(...sides);
  }
  if (filter.kind === 'string') return textCondition(filter, labels);
  const reason =
    filter.kind === 'ip'
      ? 'the backend compares addresses in another way'
      : 'a value that is no number is an error, which fails the rule';
  throw new NotConvertible(`${printLabelFilter(filter)}: ${reason}`);
}

function textCondition(filter: StringLabelFilter, labels: StoredLabels): LogsqlFilter {
  const { field } = labels.find(filter.name);
  const { tests, isNegated } = labelMeaning(filter);
  const conditions = tests.map((test) => {
    const condition = testOf(field, test);
    if (condition !== undefined) return condition;
    throw new NotConvertible(`${printLabelFilter(filter)}: the backend compares such values in another way`);
  });
  const any = or(...conditions);
  return isNegated ? not(any) : any;
}

/** Matches rows whose value passes the test; undefined if the backend compares in another way, or stores the value differently. */
function testOf(field: string, test: FilterTest): LogsqlFilter | undefined {
  switch (test.kind) {
    case 'all':
      return everything;
    case 'not-empty':
      return present(field);
    case 'equals':
      return test.ignoresCase || isShownOtherwise(test.text) ? undefined : exact(field, test.text);
    case 'contains':
      return test.ignoresCase || /[.\ufffd]/.test(test.text) ? undefined : substring(field, test.text);
    case 'regexp': {
      // Flags, and patterns that match a missing value, have another meaning in the backend.
      const isPlain =
        !/\(\?[a-zA-Z-]/.test(test.pattern) && !compileRegExp(test.pattern, { anchored: true }).test('');
      const pattern = isPlain ? wholeLinePattern(`^(?:${test.pattern})$`) : undefined;
      return pattern === undefined ? undefined : regexp(field, pattern);
    }
    case 'pattern':
    case 'ip':
      return undefined;
  }
}

/** True for a value that rows may show otherwise than they are stored. */
function isShownOtherwise(text: string): boolean {
  return isBroken(text) || /^-?\d+\.\d+$/.test(text);
}
