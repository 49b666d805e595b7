import { doAll, type Steps } from '../../base/pace/steps.js';
import type { MetricExpr, RangeAggregation, Stage } from '../../logql/ast.js';
import { rangeFunctions } from '../../logql/functions/range/index.js';
import { type Leaf, mapLeaves, type MetricSettings, planLeaves } from '../../logql/metric/index.js';
import { descriptorOf } from '../../logql/stages/index.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import type { Naming } from '../../victoria/names/naming.js';
import { isWholeJson, jsonNames } from './json-leaf.js';
import type { LeafCount, LeafPush } from './leaf-push.js';
import { logsSteps } from './logs.js';
import { matcherSteps } from './matchers.js';
import { columnsFor, visibleNames, withLevel } from './metric-columns.js';
import type { AppliedRule } from './rules/index.js';
import { type LeafFacts, metricRules } from './rules/metric.js';
import { metricOff, type Pushdown } from './rules/query.js';
import { firstRule } from './rules/rule.js';
import type { FieldsPlan, LeafPlan, LogsPlan, MetricPlan, ShortLinesPlan } from './types.js';

/**
 * Plans a metric query.
 * @throws ApiError `approxTopk`, `approxTopkRange`
 */
export function planMetric(
  expr: MetricExpr,
  naming: Naming,
  pushdown: Pushdown = 'on',
  settings?: MetricSettings,
): MetricPlan {
  return doAll(metricSteps(expr, naming, pushdown, settings));
}

/** The same bit by bit, for queries that are long. */
export function* metricSteps(
  expr: MetricExpr,
  naming: Naming,
  pushdown: Pushdown,
  settings?: MetricSettings,
): Steps<MetricPlan> {
  let count = 0;
  const tree = yield* mapLeaves(planLeaves(expr, settings).tree, function* plan(leaf): Steps<LeafPlan> {
    const planned = yield* leafSteps(leaf, naming, pushdown);
    yield;
    return { ...leaf, ...planned, index: count++ };
  });
  return { kind: 'metric', expr, tree };
}

function* leafSteps(
  leaf: Leaf,
  naming: Naming,
  pushdown: Pushdown,
): Steps<Omit<LeafPlan, keyof Leaf | 'index'>> {
  const { range } = leaf;
  const { query } = range.range;
  const { filter: selection } = yield* matcherSteps(query.selector.matchers, naming);
  const { plan: logs, decisions } = yield* logsSteps(query, naming, pushdown);
  const { rule, push } = decideLeaf(leaf, logs, pushdown);
  return {
    logs,
    selection,
    columns: pushdown === 'off' ? undefined : columnsFor(visibleNames(leaf), naming),
    push,
    shortLines: pushdown === 'off' ? undefined : planShortLines(leaf, logs),
    fields: pushdown === 'off' ? undefined : planFields(leaf, naming),
    rule,
    decisions,
  };
}

interface PushDecision {
  readonly rule: AppliedRule;
  /** How the backend counts; undefined where it does not. */
  readonly push: LeafPush | undefined;
}

/** Decides whether the backend can count a leaf's samples. */
function decideLeaf(leaf: Leaf, logs: LogsPlan, pushdown: Pushdown): PushDecision {
  if (metricOff.apply(pushdown) !== undefined) return { rule: metricOff, push: undefined };
  const { rule, emit } = firstRule(metricRules, factsOf(leaf, logs));
  const looksAtLines = rule.verdict === 'superset';
  return { rule, push: emit === undefined ? undefined : { ...emit(), looksAtLines } };
}

function factsOf(leaf: Leaf, { residual }: LogsPlan): LeafFacts {
  const { range, pushed } = leaf;
  const measure = measureOf(range);
  const visible = visibleNames(leaf);
  // Where no label is seen parsers do not run.
  const stages =
    visible?.size === 0
      ? residual.filter((stage) => descriptorOf(stage).source(stage) === undefined)
      : residual;
  const lineStages = stages.filter((stage) => !readsLabelsOnly(stage));
  const facts = { range, measure, stages, lineStages };
  const grouped = measure === 'presence' ? [] : pushed?.labels;
  if (grouped === undefined || visible === undefined) {
    return { ...facts, names: 'all', stageNames: new Set() };
  }
  const stageNames = stages.flatMap(groupNames).filter((name) => !grouped.includes(name));
  return {
    ...facts,
    names: withLevel(new Set([...grouped, ...stageNames])),
    stageNames: withLevel(new Set(stageNames)),
  };
}

/** How a leaf's rows can be shortened; undefined where they cannot. */
function planShortLines(leaf: Leaf, { residual }: LogsPlan): ShortLinesPlan | undefined {
  const { range } = leaf;
  const names = visibleNames(leaf);
  if (names === undefined || names.has(detectedLevelName) || measureOf(range) === 'bytes') return undefined;
  const parsers = residual.filter((stage) => !readsLabelsOnly(stage));
  if (parsers.length !== 1 || !parsers.every(isWholeJson)) return undefined;
  const fromJson = jsonNames(names);
  return fromJson === undefined ? undefined : { names, fromJson, stages: residual };
}

const nsPerMs = 1_000_000n;

/** How rows without a stored line can be counted by their fields; undefined where more of a line matters than labels of `| json`. */
function planFields(leaf: Leaf, naming: Naming): FieldsPlan | undefined {
  const { range } = leaf;
  const { query, intervalNanoseconds } = range.range;
  const measure = measureOf(range);
  const names = measure === 'presence' ? new Set<string>() : visibleNames(leaf);
  // Windows are cut at milliseconds.
  if (measure === undefined || measure === 'bytes' || names === undefined) return undefined;
  if (intervalNanoseconds % nsPerMs !== 0n) return undefined;
  const { stages } = query;
  if (!stages.every((stage) => readsLabelsOnly(stage) || isWholeJson(stage))) return undefined;
  const all = new Set([...names, ...stages.flatMap(groupNames)]);
  if (all.has(detectedLevelName) && !naming.scansBodies) return undefined;
  return { measure, names: all, stages, readsJson: stages.some(isWholeJson) };
}

/** What the backend counts for a function of lines; undefined for one of values. */
function measureOf({ op, range }: RangeAggregation): LeafCount['measure'] | undefined {
  const { ofLines, ofNothing } = rangeFunctions[op];
  if (range.unwrap !== undefined) return undefined;
  return ofNothing === undefined ? ofLines : 'presence';
}

function readsLabelsOnly(stage: Stage): boolean {
  return descriptorOf(stage).groupNames(stage) !== undefined;
}

/** What must be known of a row to run a stage, as far as labels tell it. */
function groupNames(stage: Stage): readonly string[] {
  return descriptorOf(stage).groupNames(stage) ?? [];
}
