import { doAll, type Steps } from '../../base/pace/steps.js';
import type { Matcher } from '../../logql/ast.js';
import { leavesOf, mapLeaves } from '../../logql/metric/index.js';
import type { LogsqlFilter, StreamMatcher } from '../../victoria/logsql/ast.js';
import { and, everything, or } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';
import type { KnownNames } from './known-names.js';
import { matchesText } from './matches-text.js';
import { queryTooLong } from './rules/query/too-long.js';
import type { GatheredPart, LeafPlan, LogsPlan, MetricPlan, Plan } from './types.js';

/** What is deleted must not depend on what was learned. */
const fixedKinds: ReadonlySet<string> = new Set(['delete']);

/**
 * What stored names have to be learned for before a plan is executed: the rows to learn them from. Undefined when the plan is
 * as good without, which is so for all but label filters and labels made of nested attributes.
 */
export function rowsToLearnFrom(plan: Plan, naming: Naming): LogsqlFilter | undefined {
  if (fixedKinds.has(plan.kind)) return undefined;
  if (plan.kind === 'label-values' && naming.mayBeNested(plan.name)) return everything;
  const filters = logsOf(plan).map(({ filter }) => filter);
  if ('filter' in plan) filters.push(plan.filter);
  if (filters.some((filter) => mentionsNested(filter, naming))) return everything;
  const filtered = logsOf(plan).filter((logs) => logs.labels.length > 0);
  return filtered.length === 0 ? undefined : or(...filtered.map(({ filter }) => selection(filter)));
}

/** A plan with what stored names add to it: labels made of nested attributes are selected, label filters go to the backend. */
export function refinePlan(plan: Plan, names: KnownNames, naming: Naming): Plan {
  switch (plan.kind) {
    case 'logs':
      return refineLogs(plan, names, naming);
    case 'detected-fields':
      return { ...plan, logs: refineLogs(plan.logs, names, naming) };
    case 'metric':
      return refineMetric(plan, names, naming);
    case 'gathered': {
      const refined = (part: GatheredPart): GatheredPart => ({
        ...part,
        plan: refineMetric(part.plan, names, naming),
      });
      return { ...plan, parts: plan.parts.map(refined) };
    }
    case 'label-values':
      return {
        ...plan,
        filter: selectNested(plan.filter, names, naming),
        nestedFields: names.nestedFieldsOf(plan.name),
      };
    default:
      return 'filter' in plan ? { ...plan, filter: selectNested(plan.filter, names, naming) } : plan;
  }
}

function refineMetric(plan: MetricPlan, names: KnownNames, naming: Naming): MetricPlan {
  const refineLeaf = function* refineLeaf(leaf: LeafPlan): Steps<LeafPlan> {
    yield;
    const selected = selectNested(leaf.selection, names, naming);
    return { ...leaf, logs: refineLogs(leaf.logs, names, naming), selection: selected };
  };
  return { ...plan, tree: doAll(mapLeaves(plan.tree, refineLeaf)) };
}

/** The same for the rows of a log query. */
export function refineLogs(plan: LogsPlan, names: KnownNames, naming: Naming): LogsPlan {
  const closed = { ...plan, filter: selectNested(plan.filter, names, naming), labels: [] };
  const answers = plan.labels.map(({ stage, ask }) => ({ stage, ...ask(names) }));
  const conditions = and(...answers.map(({ filter }) => filter));
  if (conditions.kind === 'all') return closed;
  // Fields that came later than the names were learned may have other names: those rows are looked at here.
  const { unknownFromNs } = names;
  const exempt: LogsqlFilter =
    unknownFromNs === undefined ? conditions : or(conditions, { kind: 'time', min: unknownFromNs });
  const filter = and(closed.filter, exempt);
  if (queryTooLong.apply(filter) !== undefined) return closed;
  if (unknownFromNs !== undefined) return { ...closed, filter };
  const done = new Set(answers.filter(({ verdict }) => verdict === 'exact').map(({ stage }) => stage));
  return { ...closed, filter, residual: plan.residual.filter((stage) => !done.has(stage)) };
}

function logsOf(plan: Plan): readonly LogsPlan[] {
  switch (plan.kind) {
    case 'logs':
      return [plan];
    case 'detected-fields':
      return [plan.logs];
    default:
      return leavesOfPlan(plan).map(({ logs }) => logs);
  }
}

/** Every range aggregation of a plan. */
export function leavesOfPlan(plan: Plan): readonly LeafPlan[] {
  switch (plan.kind) {
    case 'metric':
      return leavesOf(plan.tree);
    case 'gathered':
      return plan.parts.flatMap((part) => leavesOf(part.plan.tree));
    default:
      return [];
  }
}

/** The part of a filter that an index answers: names are learned from whole streams, not by reading lines. */
function selection(filter: LogsqlFilter): LogsqlFilter {
  const parts = filter.kind === 'and' ? filter.parts : [filter];
  return and(...parts.filter(({ kind }) => kind === 'stream'));
}

function mentionsNested(filter: LogsqlFilter, naming: Naming): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.parts.some((part) => mentionsNested(part, naming));
    case 'not':
      return mentionsNested(filter.filter, naming);
    case 'stream':
      return filter.groups.some((group) => group.some(({ label }) => naming.mayBeNested(label)));
    default:
      return false;
  }
}

/** Lets matchers on a label see the leaves that the label is made of. */
function selectNested(filter: LogsqlFilter, names: KnownNames, naming: Naming): LogsqlFilter {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { ...filter, parts: filter.parts.map((part) => selectNested(part, names, naming)) };
    case 'not':
      return { ...filter, filter: selectNested(filter.filter, names, naming) };
    case 'stream':
      return { ...filter, groups: filter.groups.flatMap((group) => nestedGroups(group, names, naming)) };
    default:
      return filter;
  }
}

function nestedGroups(
  group: readonly StreamMatcher[],
  names: KnownNames,
  naming: Naming,
): readonly (readonly StreamMatcher[])[] {
  let groups: readonly (readonly StreamMatcher[])[] = [[]];
  for (const one of group) {
    const fields = naming.mayBeNested(one.label) ? names.nestedFieldsOf(one.label) : [];
    const spelled = [one, ...fields.map((label) => ({ ...one, label }))];
    // As in a plan made with the spellings: where the empty text matches, no spelling may have another value.
    groups =
      one.kind === 'value' && matchesText(asMatcher(one), '')
        ? groups.map((before) => [...before, ...spelled])
        : groups.flatMap((before) => spelled.map((matcher) => [...before, matcher]));
  }
  return groups;
}

function asMatcher({ op, value }: Pick<Matcher, 'op' | 'value'>): Pick<Matcher, 'op' | 'value'> {
  return { op, value };
}
