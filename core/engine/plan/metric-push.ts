import type { Leaf } from '../../logql/metric/index.js';
import type { RangeAggregation, Stage } from '../../logql/ast.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import { namesIn, plainName, visibleNames } from './metric-columns.js';
import type { metricRules } from './rules/metric.js';
import type { ShortLinesPlan, LeafPush, LogsPlan } from './types.js';

export type PushDecision =
  | { readonly rule: Counted; readonly push: LeafPush }
  | { readonly rule: Exclude<keyof typeof metricRules, Counted> };
type Counted = 'metricGroups' | 'metricLevel' | 'metricAbsent' | 'metricIdentity' | 'metricJson';

const nsPerMs = 1_000_000n;

/** Decides whether the backend can count a leaf's samples exactly. */
export function pushLeaf({ range, pushed }: Leaf, { residual }: LogsPlan): PushDecision {
  const measure = measureOf(range);
  if (range.range.unwrap !== undefined || measure === undefined) return { rule: 'metricUnwrap' };
  const visible = visibleNames(range, pushed);
  // Where no label is seen parsers do not run.
  const stages = visible?.size === 0 ? residual.filter((stage) => !isParser(stage)) : residual;
  const parsers = stages.filter((stage) => !readsLabelsOnly(stage));
  if (!parsers.every(isWholeJson) || parsers.length > 1) return { rule: 'metricStages' };
  // Windows are cut at milliseconds.
  if (range.range.intervalNanoseconds % nsPerMs !== 0n) return { rule: 'metricStages' };
  const isGrouped = measure === 'presence' || pushed !== undefined;
  if (!isGrouped || visible === undefined) {
    if (parsers.length > 0) return { rule: 'metricStages' };
    return { rule: 'metricIdentity', push: { measure, names: 'all', stageNames: new Set(), stages } };
  }
  const names = new Set(measure === 'presence' ? [] : (pushed?.labels ?? []));
  const stageNames = new Set(stages.flatMap(neededNames).filter((name) => !names.has(name)));
  for (const name of stageNames) names.add(name);
  const push: LeafPush = { measure, names, stageNames, stages };
  if (parsers.length > 0) {
    const fromJson = jsonNames(names);
    return fromJson === undefined
      ? { rule: 'metricStages' }
      : { rule: 'metricJson', push: { ...push, fromJson, dropsErrors: dropsErrors(stages, names) } };
  }
  if (names.has(detectedLevelName)) return { rule: 'metricLevel', push };
  return { rule: measure === 'presence' ? 'metricAbsent' : 'metricGroups', push };
}

/** How a leaf's rows can be shortened; undefined where they cannot. */
export function planShortLines({ range, pushed }: Leaf, { residual }: LogsPlan): ShortLinesPlan | undefined {
  const names = visibleNames(range, pushed);
  const isOfBytes = range.range.unwrap === undefined && measureOf(range) === 'bytes';
  if (names === undefined || names.has(detectedLevelName) || isOfBytes) return undefined;
  const parsers = residual.filter((stage) => !readsLabelsOnly(stage));
  if (parsers.length !== 1 || !parsers.every(isWholeJson)) return undefined;
  const fromJson = jsonNames(names);
  return fromJson === undefined ? undefined : { names, fromJson, stages: residual };
}

function measureOf({ op }: RangeAggregation): LeafPush['measure'] | undefined {
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

/** Names that `| json` makes of keys in one way only; undefined when there is another one among them. */
function jsonNames(names: ReadonlySet<string>): readonly string[] | undefined {
  const made = [...names].filter((name) => !name.startsWith('__error') && name !== detectedLevelName);
  const arePlain = made.every((name) => /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && name === plainName(name));
  return arePlain && made.length > 0 ? made : undefined;
}

/** Whether errors of the parser are dropped before anything looks at them. */
function dropsErrors(stages: readonly Stage[], names: ReadonlySet<string>): boolean {
  if ([...names].some((name) => name.startsWith('__error'))) return false;
  const behind = stages.slice(stages.findIndex(isWholeJson) + 1);
  const first = behind.find((stage) => namesIn(stage).some((name) => name.startsWith('__error')));
  return (
    first?.kind === 'drop' &&
    first.items.some(({ name, matcher }) => name === '__error__' && matcher === undefined)
  );
}

/** `| json` without expressions. */
function isWholeJson(stage: Stage): boolean {
  return stage.kind === 'json' && stage.params.length === 0;
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
