import { doAll, type Steps } from '../../base/pace/steps.js';
import type { RangeAggregation, Stage } from '../../logql/ast.js';
import { matchesEmpty, printMatcher, printStage } from '../../logql/index.js';
import { rangeFunctions } from '../../logql/functions/range/index.js';
import { type Leaf, leavesOf, mapLeaves, type MetricTree } from '../../logql/metric/index.js';
import { labelName } from '../../logql/pipeline/slot.js';
import { descriptorOf } from '../../logql/stages/index.js';
import { or } from '../../victoria/logsql/build.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import type { Naming } from '../../victoria/names/naming.js';
import type { CheckedMetric } from './checked-request.js';
import type { Extraction, Names } from '../../logql/stages/stage.js';
import {
  columnsFor,
  dropsErrors,
  extractionOfAll,
  isAskedInBursts,
  isWholeJson,
  type LeafCount,
  mayKeepErrors,
  type ParsedNames,
  plainNames,
  visibleNames,
  withLevel,
} from './columns.js';
import { type LabelQuestion, type OpenPlan, planLogs } from './logs.js';
import { rebuiltMark } from './missing-lines.js';
import { type LeafFacts, metricRules } from './rules/metric.js';
import { firstRule, metricOff, type Pushdown } from './rules/rule.js';
import type { FieldsPlan, LeafPlan, LogsPlan, MetricPlan, PlanContext } from './types.js';

/** A range aggregation whose plan still lacks stored names. */
export interface OpenLeaf extends OpenPlan<LeafPlan> {
  readonly questions: readonly LabelQuestion[];
}

/** A metric expression whose plan still lacks stored names. */
export interface OpenMetric extends OpenPlan<MetricPlan> {
  readonly tree: MetricTree<OpenLeaf>;
}

export function* planMetric(
  { expr, tree: asked, pushdown }: CheckedMetric,
  context: PlanContext,
): Steps<OpenMetric> {
  let count = 0;
  const tree = yield* mapLeaves(asked, function* plan(leaf): Steps<OpenLeaf> {
    const open = yield* openLeaf({ ...leaf, index: count++ }, context, pushdown);
    yield;
    return open;
  });
  const wanted = leavesOf(tree).flatMap((leaf) => leaf.wanted ?? []);
  return {
    tree,
    wanted: wanted.length === 0 ? undefined : or(...wanted),
    close: (names, isAsked) => ({
      kind: 'metric',
      expr,
      tree: doAll(
        mapLeaves(tree, function* closed(leaf): Steps<LeafPlan> {
          yield;
          return leaf.close(names, isAsked);
        }),
      ),
    }),
  };
}

function* openLeaf(
  leaf: Leaf & Pick<LeafPlan, 'index'>,
  context: PlanContext,
  pushdown: Pushdown,
): Steps<OpenLeaf> {
  const { naming } = context;
  const { query, unwrap } = leaf.range.range;
  const open = yield* planLogs(query, context, pushdown, unwrap?.name);
  const { wanted, selection, questions, decisions } = open;
  return {
    ...{ wanted, questions },
    close: (names, isAsked) => {
      const logs = open.close(names, isAsked);
      const shared = { ...leaf, logs, selection, decisions };
      if (metricOff.match(pushdown) === true)
        return {
          ...shared,
          rule: metricOff,
          ...{ columns: undefined, push: undefined, shortLines: undefined, fields: undefined },
        };
      return {
        ...shared,
        columns: columnsFor(visibleNames(leaf), naming),
        seesFieldsOnly: seesFieldsOnly(leaf, logs),
        // Folded series do not show an error.
        ...(mayKeepErrors(leaf) ? { mayKeepErrors: true, folded: undefined } : {}),
        ...(usesStreamLabelsOnly(leaf, naming) ? { hasStreamLabelsOnly: true } : {}),
        ...decideLeaf(leaf, logs.residual),
        fields: planFields(leaf, logs, naming),
      };
    },
  };
}

/** True for a leaf of lines whose rows are best read together with those of others. */
export function canBeGathered({
  push,
  shortLines,
  values,
}: Pick<LeafPlan, 'push' | 'shortLines' | 'values'>): boolean {
  return [push, shortLines, values].every((way) => way === undefined || isAskedInBursts(way.parsed));
}

/**
 * A key that is equal for leaves that read the same rows, as far as their texts show. Undefined for a leaf that is not answered by
 * reading rows with some columns, if its line filters are pushed down.
 */
export function gatheringKey(leaf: Leaf, naming: Naming): string | undefined {
  const { query, intervalNanoseconds, offsetNanoseconds } = leaf.range.range;
  const { selector, stages } = query;
  const isLineFilter = (stage: Stage): boolean => descriptorOf(stage).order === 'filter';
  const residual = stages.filter((stage) => !isLineFilter(stage));
  if (!canBeGathered(decideLeaf(leaf, residual))) return undefined;
  if (columnsFor(visibleNames(leaf), naming) === undefined || mayKeepErrors(leaf)) return undefined;
  const filters = stages.filter(isLineFilter).map(printStage);
  const times = [intervalNanoseconds, offsetNanoseconds].map(String);
  return JSON.stringify([selector.matchers.map(printMatcher), filters, times]);
}

/** Decides whether the backend can count a leaf's samples with these residual stages, gather their values, or shorten their lines. */
function decideLeaf(
  leaf: Leaf,
  residual: readonly Stage[],
): Pick<LeafPlan, 'rule' | 'push' | 'shortLines' | 'values'> {
  const { rule, asked } = firstRule(metricRules, factsOf(leaf, residual));
  const push = asked && { ...asked, looksAtLines: rule.verdict === 'superset' };
  const names = visibleNames(leaf) ?? 'all';
  const parsed = parsedNames(residual, names);
  const mayShorten = names !== 'all' && !names.has(detectedLevelName) && measureOf(leaf.range) !== 'bytes';
  const mayGather =
    leaf.range.range.unwrap !== undefined && (parsed !== undefined || !residual.some(readsLine));
  return {
    ...{ rule, push },
    shortLines: mayShorten && parsed ? { names, parsed, stages: residual } : undefined,
    values: mayGather ? { names, stages: residual, ...(parsed && { parsed }) } : undefined,
  };
}

/** Parsers that mark lines with errors. */
const makesErrors: ReadonlySet<Extraction['from']> = new Set<Extraction['from']>([
  'json-keys',
  'json-paths',
  'json-then-pairs',
]);

function factsOf(leaf: Leaf, residual: readonly Stage[]): LeafFacts {
  const { range, pushed } = leaf;
  const measure = measureOf(range);
  const visible = visibleNames(leaf);
  const facts = { measure, stages: residual, lineStages: residual.filter(readsLine) };
  const grouped = measure === 'presence' ? [] : pushed?.labels;
  if (grouped === undefined || visible === undefined) {
    return { ...facts, names: 'all', stageNames: new Set(), fromLines: fromLines(residual, 'all') };
  }
  const stageNames = residual.flatMap(groupNames).filter((name) => !grouped.includes(name));
  const names = withLevel(new Set([...grouped, ...stageNames]));
  return {
    ...{ ...facts, names, stageNames: withLevel(new Set(stageNames)) },
    fromLines: fromLines(residual, names),
  };
}

function fromLines(residual: readonly Stage[], names: ReadonlySet<string> | 'all'): LeafFacts['fromLines'] {
  const parsed = parsedNames(residual, names);
  if (parsed === undefined) return undefined;
  const dropped = dropsErrors(residual, names === 'all' ? new Set() : names);
  return { parsed, dropsErrors: !makesErrors.has(parsed.parser.from) || dropped };
}

/** True if the selector requires each label that a parser could make for the leaf, and streams have these labels. */
function usesStreamLabelsOnly(leaf: Leaf, naming: Naming): boolean {
  const names = plainNames(visibleNames(leaf) ?? new Set());
  if (names === undefined) return false;
  const { matchers } = leaf.range.range.query.selector;
  const isRequired = (name: string): boolean =>
    matchers.some((one) => one.name === name && !matchesEmpty(one)) &&
    naming.columnsOf(naming.selectorName(name)).length === 0;
  return names.every(isRequired);
}

/** Labels among these that come from a line only by a parser, or by one after another, if no other stage reads it; else undefined. */
function parsedNames(stages: readonly Stage[], names: ReadonlySet<string> | 'all'): ParsedNames | undefined {
  const readers = stages.filter(readsLine);
  const parser = extractionOfAll(readers);
  const seen = names === 'all' ? namesMade(readers) : names;
  const made = parser && seen && plainNames(seen);
  return parser && made && { parser, names: made };
}

/** The labels that stages may make; undefined if these may be any. */
function namesMade(stages: readonly Stage[]): ReadonlySet<string> | undefined {
  const made = new Set<string>();
  for (const stage of stages) {
    const names = descriptorOf(stage).makes(stage);
    if (names === 'all') return undefined;
    for (const name of names) made.add(name);
  }
  return made;
}

/**
 * A plan to count rows without a stored line by their fields; undefined if more of a line matters than labels from `| json`, with or
 * without expressions, and filters of the backend.
 */
function planFields(leaf: Leaf, { recheck }: LogsPlan, naming: Naming): FieldsPlan | undefined {
  const { range } = leaf;
  const measure = measureOf(range);
  const names = measure === 'presence' ? new Set<string>() : visibleNames(leaf);
  if (measure === undefined || measure === 'bytes' || names === undefined) return undefined;
  const stages = range.range.query.stages.filter((stage) => !recheck.includes(stage));
  if (stages.some((stage) => readsLine(stage) && objectKeysOf(stage) === undefined)) return undefined;
  const keys = stages.map(objectKeysOf).filter((read) => read !== undefined);
  const named = keys.flatMap((read) => (read === 'all' ? [] : read.map(labelName)));
  const all = new Set([...names, ...stages.flatMap(groupNames), ...named]);
  if ((all.has(detectedLevelName) && !naming.scansBodies) || all.has(rebuiltMark[0])) return undefined;
  return { names: all, readsJson: keys.length > 0 };
}

function objectKeysOf(stage: Stage): Names | undefined {
  return descriptorOf(stage).objectKeys?.(stage);
}

/** True if a leaf uses nothing of a rebuilt line but the labels that `| json` makes of its fields. */
export function seesFieldsOnly(leaf: Leaf, { recheck, residual }: LogsPlan): boolean {
  const names = visibleNames(leaf);
  const stages = [...recheck, ...residual];
  const seesLine = stages.some((stage) => readsLine(stage) && !isWholeJson(stage)) || mayKeepErrors(leaf);
  const needsLine = names === undefined || names.has(detectedLevelName) || names.has(rebuiltMark[0]);
  return !needsLine && !seesLine && measureOf(leaf.range) !== 'bytes';
}

/** The measure that the backend counts for a function of lines; undefined for a function of values. */
function measureOf({ op, range }: RangeAggregation): LeafCount['measure'] | undefined {
  const { ofLines, ofNothing } = rangeFunctions[op];
  if (range.unwrap !== undefined) return undefined;
  return ofNothing === undefined ? ofLines : 'presence';
}

/** True when a stage reads or changes the line, or its templates read more than single labels. */
function readsLine(stage: Stage): boolean {
  return descriptorOf(stage).groupNames(stage) === undefined;
}

/** The labels of a row that determine the result of a stage, as far as labels do. */
function groupNames(stage: Stage): readonly string[] {
  return descriptorOf(stage).groupNames(stage) ?? [];
}
