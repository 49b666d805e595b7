import type { Leaf } from '../../logql/metric/index.js';
import type { RangeAggregation, Stage } from '../../logql/ast.js';
import type { Naming } from '../../victoria/names/naming.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import { isWholeJson, jsonNames } from './json-leaf.js';
import type { LeafCount, LeafPush } from './leaf-push.js';
import { namesIn, visibleNames, withLevel } from './metric-columns.js';
import type { AppliedRule } from './rules/index.js';
import { metricRules } from './rules/metric/index.js';
import type { LeafFacts } from './rules/metric/metric-rule.js';
import { metricOff, type Pushdown } from './rules/query/off.js';
import { firstRule } from './rules/rule.js';
import type { FieldsPlan, LogsPlan, ShortLinesPlan } from './types.js';

export interface PushDecision {
  readonly rule: AppliedRule;
  /** How the backend counts; undefined where it does not. */
  readonly push: LeafPush | undefined;
}

/** Decides whether the backend can count a leaf's samples. */
export function decideLeaf(leaf: Leaf, logs: LogsPlan, pushdown: Pushdown): PushDecision {
  if (metricOff.apply(pushdown) !== undefined) return { rule: metricOff, push: undefined };
  const { rule, emit } = firstRule(metricRules, factsOf(leaf, logs));
  const looksAtLines = rule.verdict === 'superset';
  return { rule, push: emit === undefined ? undefined : { ...emit(), looksAtLines } };
}

function factsOf(leaf: Leaf, { residual }: LogsPlan): LeafFacts {
  const { range, pushed } = leaf;
  const measure = range.range.unwrap === undefined ? measureOf(range) : undefined;
  const visible = visibleNames(leaf);
  // Where no label is seen parsers do not run.
  const stages = visible?.size === 0 ? residual.filter((stage) => !isParser(stage)) : residual;
  const lineStages = stages.filter((stage) => !readsLabelsOnly(stage));
  const facts = { range, measure, stages, lineStages };
  const grouped = measure === 'presence' ? [] : pushed?.labels;
  if (grouped === undefined || visible === undefined) {
    return { ...facts, names: 'all', stageNames: new Set() };
  }
  const stageNames = stages.flatMap(neededNames).filter((name) => !grouped.includes(name));
  return {
    ...facts,
    names: withLevel(new Set([...grouped, ...stageNames])),
    stageNames: withLevel(new Set(stageNames)),
  };
}

/** How a leaf's rows can be shortened; undefined where they cannot. */
export function planShortLines(leaf: Leaf, { residual }: LogsPlan): ShortLinesPlan | undefined {
  const { range } = leaf;
  const names = visibleNames(leaf);
  const isOfBytes = range.range.unwrap === undefined && measureOf(range) === 'bytes';
  if (names === undefined || names.has(detectedLevelName) || isOfBytes) return undefined;
  const parsers = residual.filter((stage) => !readsLabelsOnly(stage));
  if (parsers.length !== 1 || !parsers.every(isWholeJson)) return undefined;
  const fromJson = jsonNames(names);
  return fromJson === undefined ? undefined : { names, fromJson, stages: residual };
}

const nsPerMs = 1_000_000n;

/** How rows without a stored line can be counted by their fields; undefined where more of a line matters than labels of `| json`. */
export function planFields(leaf: Leaf, naming: Naming): FieldsPlan | undefined {
  const { range } = leaf;
  const { query, unwrap, intervalNanoseconds } = range.range;
  const measure = unwrap === undefined ? measureOf(range) : undefined;
  const names = measure === 'presence' ? new Set<string>() : visibleNames(leaf);
  // Windows are cut at milliseconds.
  if (measure === undefined || measure === 'bytes' || names === undefined) return undefined;
  if (intervalNanoseconds % nsPerMs !== 0n) return undefined;
  const { stages } = query;
  if (!stages.every((stage) => readsLabelsOnly(stage) || isWholeJson(stage))) return undefined;
  const all = new Set([...names, ...stages.flatMap(neededNames)]);
  if (all.has(detectedLevelName) && !naming.scansBodies) return undefined;
  return { measure, names: all, stages, readsJson: stages.some(isWholeJson) };
}

function measureOf({ op }: RangeAggregation): LeafCount['measure'] | undefined {
  switch (op) {
    case 'count_over_time':
    case 'rate':
      return 'count';
    case 'bytes_over_time':
    case 'bytes_rate':
      return 'bytes';
    case 'absent_over_time':
      return 'presence';
    case 'rate_counter':
    case 'avg_over_time':
    case 'sum_over_time':
    case 'min_over_time':
    case 'max_over_time':
    case 'stdvar_over_time':
    case 'stddev_over_time':
    case 'quantile_over_time':
    case 'first_over_time':
    case 'last_over_time':
      return undefined;
  }
}

function isParser({ kind }: Stage): boolean {
  return kind === 'json' || kind === 'logfmt' || kind === 'regexp' || kind === 'pattern' || kind === 'unpack';
}

function readsLabelsOnly({ kind }: Stage): boolean {
  return kind === 'label-filter' || kind === 'drop' || kind === 'keep';
}

/** What must be known of a row to run a stage; labels that are dropped or kept whatever they are need not be. */
function neededNames(stage: Stage): readonly string[] {
  if (stage.kind === 'drop' || stage.kind === 'keep')
    return stage.items.flatMap(({ name, matcher }) => (matcher === undefined ? [] : [name]));
  return namesIn(stage);
}
