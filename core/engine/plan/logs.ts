import type { Steps } from '../../base/pace/steps.js';
import type { LineFilterStage, LogExpr, Matcher, Stage, LabelFilter } from '../../logql/ast.js';
import { lineMeaning } from '../../logql/pipeline/filter-test.js';
import { descriptorOf } from '../../logql/stages/index.js';
import type { LineSource } from '../../logql/stages/stage.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, exact, not, nothing, or, selectionOf } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';
import { aggregateLabels } from '../../victoria/names/stream-identity.js';
import type { KnownNames } from '../../victoria/names/name-learner.js';
import { joinStreams } from './columns.js';
import {
  emptyLinePasses,
  letsMissingLinesPass,
  missingLineRows,
  rebuiltLinesThatPass,
} from './missing-lines.js';
import type { AppliedRule } from './rules/index.js';
import { labelDeep, labelRules, type LabelScope, type PlacedComparison } from './rules/label.js';
import { anyOf, lineMixed, lineRules } from './rules/line.js';
import { firstRule, metricOff, type Pushdown, queryTooLong, selectorRules, weakest } from './rules/rule.js';
import { stageRules } from './rules/stage.js';
import type { Decision, LogsPlan, PlanContext } from './types.js';
import { isComparison } from '../../logql/pipeline/label-comparison.js';
import { comparesTexts } from '../../logql/stages/label-filter.js';

/** Number of matchers that are planned per step. */
const stepMatchers = 100;

/** The rows that matchers select, and the rules that were applied. */
export interface PlannedMatchers {
  readonly filter: LogsqlFilter;
  readonly decisions: readonly Decision[];
}

/** Plans the selection of the streams that match all matchers. */
export function* planMatchers(matchers: readonly Matcher[], context: PlanContext): Steps<PlannedMatchers> {
  const { naming, fields } = context;
  const filters: LogsqlFilter[] = [];
  const decisions: Decision[] = [];
  for (const [index, matcher] of matchers.entries()) {
    if ((index + 1) % stepMatchers === 0) yield;
    const name = naming.selectorName(matcher.name);
    const { rule, asked } = firstRule(selectorRules, { name, matcher, naming, fields });
    decisions.push({ rule, part: matcher });
    if (asked !== undefined) filters.push(asked);
  }
  return { filter: joinStreams(filters), decisions };
}

/** A filter that depends on stored names: a label filter, or a line filter for rows without a stored line. */
export interface LabelQuestion {
  readonly stage: Stage;
  /** Matches the rows whose names it needs; undefined for the whole selection. */
  readonly among?: LogsqlFilter;
  readonly ask: AskLabels;
}

/** A plan that still lacks stored names. */
export interface OpenPlan<Closed> {
  /** Matches the rows whose names it needs; undefined if no names matter. */
  readonly wanted: LogsqlFilter | undefined;
  /**
   * @param names undefined if there are too many; filters that need them are then evaluated only here
   * @param isAsked true if the question may be pushed down
   */
  readonly close: (names: KnownNames | undefined, isAsked?: (question: LabelQuestion) => boolean) => Closed;
}

/** A log query: the filter for the backend, and the stages left to evaluate here. */
export interface OpenLogs extends OpenPlan<LogsPlan> {
  /** Matches the rows of its streams. */
  readonly selection: LogsqlFilter;
  readonly questions: readonly LabelQuestion[];
  /** The rule that was applied to each part of the query, in order, for `explain`. */
  readonly decisions: readonly Decision[];
}

/** Number of stages that are planned per step. */
const stepStages = 50;

/** @param needed the label without which a row does not matter, behind all stages; undefined if all rows matter */
export function* planLogs(
  expr: LogExpr,
  context: PlanContext,
  pushdown: Pushdown,
  needed?: string,
): Steps<OpenLogs> {
  const { matchers } = expr.selector;
  const { filter: selection, decisions } = yield* planMatchers(matchers, context);
  const isHidden =
    context.hidesInternal === true && matchers.some(({ name }) => aggregateLabels.includes(name));
  const leftHere = (rule: AppliedRule): OpenLogs => ({
    ...{ selection, questions: [], wanted: undefined },
    decisions: [...decisions, ...expr.stages.map((part) => ({ rule, part }))],
    close: () => ({
      kind: 'logs',
      ...{ filter: isHidden ? nothing : selection, residual: expr.stages, recheck: [] },
    }),
  });
  if (metricOff.match(pushdown) === true) return leftHere(metricOff);
  const stages = new PlannedStages(context.naming);
  for (const [index, stage] of expr.stages.entries()) {
    if ((index + 1) % stepStages === 0) yield;
    stages.add(stage);
  }
  if (needed !== undefined) stages.need(needed);
  const filter = and(selection, stages.lines());
  yield;
  if (stages.asksLines && queryTooLong.match(filter) === true) return leftHere(queryTooLong);
  const { residual, recheck, questions } = stages;
  const plan: LogsPlan = { kind: 'logs', filter: isHidden ? nothing : filter, residual, recheck };
  return {
    ...{ selection, questions },
    decisions: [...decisions, ...stages.decisions],
    // Names are learned from whole streams, without reading lines.
    wanted:
      isHidden || questions.length === 0
        ? undefined
        : and(selectionOf(selection), or(...questions.map(({ among }) => among ?? everything))),
    close: (names, isAsked = () => true) =>
      isHidden || names === undefined ? plan : asking(plan, questions.filter(isAsked), names),
  };
}

/** A plan with label filters pushed down by their stored names. */
function asking(plan: LogsPlan, questions: readonly LabelQuestion[], names: KnownNames): LogsPlan {
  const conditions = and(...questions.map(({ ask }) => ask(names)));
  if (conditions.kind === 'all') return plan;
  // Fields that were added after the names were learned may have other names, so those rows are evaluated here.
  const { unknownFromNs } = names;
  const exempt: LogsqlFilter =
    unknownFromNs === undefined ? conditions : or(conditions, { kind: 'time', min: unknownFromNs });
  const filter = and(plan.filter, exempt);
  return queryTooLong.match(filter) === true ? plan : { ...plan, filter };
}

/** Plans the stages of a query in order. */
class PlannedStages {
  readonly residual: Stage[] = [];
  readonly recheck: Stage[] = [];
  readonly questions: LabelQuestion[] = [];
  readonly decisions: Decision[] = [];
  readonly #scope: RowScope;
  readonly #filters: LogsqlFilter[] = [];
  readonly #asked: LineFilterStage[] = [];

  constructor(naming: Naming) {
    this.#scope = new RowScope(naming);
  }

  add(stage: Stage): void {
    this.decisions.push({ rule: this.#place(stage), part: stage });
    this.#scope.pass(stage);
  }

  /** Asks only for rows that may have a stored label. An error matters no more than a row that lacks it. */
  need(name: string): void {
    // Most lines have what a parser is asked for, and searching for it takes longer than leaving out the others would save.
    if (this.#scope.sourceInLine(name) !== undefined) return;
    const span = { start: 0, end: 0 };
    const filter: LabelFilter = { kind: 'string', name, op: '!=', value: '', span };
    const { ask } = decideLabelFilter(filter, this.#scope, false);
    if (ask !== undefined) this.questions.push({ stage: { kind: 'label-filter', filter, span }, ask });
  }

  get asksLines(): boolean {
    return this.#asked.length > 0;
  }

  /** The filter on lines. It includes rows without a stored line if their placeholder would not pass. */
  lines(): LogsqlFilter {
    const lines = and(...this.#filters);
    const { naming } = this.#scope;
    const needsNoMore = !this.asksLines || letsMissingLinesPass(this.#asked, naming);
    return needsNoMore ? lines : or(lines, missingLineRows(naming));
  }

  #place(stage: Stage): AppliedRule {
    if (stage.kind === 'line-filter' && this.#scope.isLineStored) return this.#placeLineFilter(stage);
    this.residual.push(stage);
    if (stage.kind !== 'label-filter') return stageRules[descriptorOf(stage).whyHere];
    const { rule, ask } = decideLabelFilter(stage.filter, this.#scope, this.#scope.mayHaveFailed);
    if (ask !== undefined) this.questions.push({ stage, ask });
    return rule;
  }

  /** Includes rows without a stored line, except those whose fields prove that their line does not pass. */
  #askRebuilt(stage: LineFilterStage): void {
    if (rebuiltLinesThatPass(stage, []).kind === 'all') return;
    const among = missingLineRows(this.#scope.naming);
    this.questions.push({
      ...{ stage, among },
      ask({ fields }) {
        const passing = fields === undefined ? everything : rebuiltLinesThatPass(stage, fields);
        // Where no row has a field of its own, none is without a line.
        if (passing.kind === 'all' || fields?.length === 0) return everything;
        return or(not(among), passing);
      },
    });
  }

  #placeLineFilter(stage: LineFilterStage): AppliedRule {
    const { rule, filter } = decideLineFilter(stage);
    const { verdict } = rule;
    if (verdict !== 'none') {
      this.#filters.push(filter);
      this.#asked.push(stage);
      this.#askRebuilt(stage);
    }
    if (verdict === 'exact') this.recheck.push(stage);
    else this.residual.push(stage);
    return rule;
  }
}

/** The filter of the backend for line filters that it evaluates exactly, on any text in `_msg`. An empty one, which no stored line is, is tested here. */
export function exactLines(stages: readonly Stage[]): LogsqlFilter {
  const filters = stages.flatMap((stage) => (stage.kind === 'line-filter' ? [stage] : []));
  if (filters.length === 0) return everything;
  const lines = and(...filters.map((stage) => decideLineFilter(stage).filter));
  const empty = exact('_msg', '');
  return emptyLinePasses(filters) ? or(empty, lines) : and(not(empty), lines);
}

/** Decides how a line filter on the stored line goes to the backend (docs/protocol/logql-to-logsql.md#line-filters). */
export function decideLineFilter(stage: LineFilterStage): {
  readonly rule: AppliedRule;
  readonly filter: LogsqlFilter;
} {
  const { tests, isNegated } = lineMeaning(stage);
  const terms = tests.map((test) => {
    const { rule, asked = everything } = firstRule(lineRules, { test, isNegated });
    return { rule, filter: asked };
  });
  const rules = terms.map(({ rule }) => rule);
  const isMixed = lineMixed.match(terms) !== undefined;
  const filter = anyOf(terms);
  return {
    rule: weakest<AppliedRule>(isMixed ? [lineMixed, ...rules] : rules),
    // Of a negated test no rule asks for a superset, whose negation would lose lines.
    filter: isNegated ? not(filter) : filter,
  };
}

/** The less a source says about where in the stored line a value stands, the vaguer it is. */
const vagueness: Readonly<Record<LineSource, number>> = {
  'json-keys': 0,
  'pair-keys': 1,
  'strict-pair-keys': 1,
  // Numbers are compared with a missing value, too, which is an error and so passes.
  'all-pair-keys': 2,
  pieces: 3,
  'other-lines': 4,
};

/** Tracks the parts of a stored row that are still as stored, while the row runs through the stages. */
class RowScope implements LabelScope {
  /** True if a stage may have marked the row with an error. */
  mayHaveFailed = false;
  /** True while the line is still the stored one. */
  isLineStored = true;
  #changed: Set<string> | 'all' = new Set();
  /** The vaguest source of parsed labels; undefined while no parser has run. */
  #parsed: LineSource | undefined;
  /** Names whose values come from a template or another name. */
  readonly #assigned = new Set<string>();
  readonly naming: Naming;

  constructor(naming: Naming) {
    this.naming = naming;
  }

  isStored(name: string): boolean {
    return this.#changed !== 'all' && !this.#changed.has(name);
  }

  sourceInLine(name: string): 'keys' | 'pieces' | undefined {
    if (this.#parsed === undefined || this.#parsed === 'other-lines' || this.#assigned.has(name))
      return undefined;
    return vagueness[this.#parsed] < vagueness['all-pair-keys'] ? 'keys' : 'pieces';
  }

  get isParsedAsJson(): boolean {
    return this.#parsed === 'json-keys';
  }

  pass(stage: Stage): void {
    const descriptor = descriptorOf(stage);
    const [made, lost] = [descriptor.makes(stage), descriptor.loses(stage)];
    const source = descriptor.source(stage);
    if (descriptor.errors(stage) === 'made') this.mayHaveFailed = true;
    // Only a parser makes labels whose names its text does not tell.
    if (source === undefined) for (const name of made) this.#assigned.add(name);
    else {
      const read = this.isLineStored ? source : 'other-lines';
      if (this.#parsed === undefined || vagueness[read] > vagueness[this.#parsed]) this.#parsed = read;
    }
    if (descriptor.changesLine !== 'no') this.isLineStored = false;
    if (this.#changed === 'all') return;
    if (made === 'all' || lost === 'all') this.#changed = 'all';
    else for (const name of [...made, ...lost]) this.#changed.add(name);
  }
}

/** The decision about a label filter. */
interface DecidedLabels {
  readonly rule: AppliedRule;
  /** Returns the filter for the backend, given the stored names; undefined if the backend can filter for none of them. */
  readonly ask: AskLabels | undefined;
}

/** Returns a filter that matches all rows that pass, and possibly more; it matches all rows if the backend cannot filter. */
type AskLabels = (names: KnownNames) => LogsqlFilter;

/** Decides how a label filter is pushed down (docs/protocol/logql-to-logsql.md#label-filters). */
function decideLabelFilter(filter: LabelFilter, scope: LabelScope, mayHaveFailed: boolean): DecidedLabels {
  if (labelDeep.match(filter) === true) return { rule: labelDeep, ask: undefined };
  return decideTree(filter, scope, mayHaveFailed);
}

function decideTree(filter: LabelFilter, scope: LabelScope, mayHaveFailed: boolean): DecidedLabels {
  if (isComparison(filter)) return decideComparison({ comparison: filter, scope, mayHaveFailed });
  const left = decideTree(filter.left, scope, mayHaveFailed);
  // The left side may have marked the row with an error.
  const right = decideTree(filter.right, scope, mayHaveFailed || !comparesTexts(filter.left));
  const [isAny, askLeft, askRight] = [filter.kind === 'or', left.ask, right.ask];
  // One side is enough of a conjunction, and useless of a disjunction.
  if (askLeft === undefined || askRight === undefined)
    return isAny === (askLeft === undefined) ? left : right;
  const join = isAny ? or : and;
  return { rule: left.rule, ask: (names) => join(askLeft(names), askRight(names)) };
}

function decideComparison(placed: PlacedComparison): DecidedLabels {
  const { rule, asked } = firstRule(labelRules, placed);
  return { rule, ask: asked && ((names) => asked(names) ?? everything) };
}
