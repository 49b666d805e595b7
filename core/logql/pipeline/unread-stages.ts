import type { Grouping, RangeAggregation, Stage } from '../ast.js';
import { rangeFunctions } from '../functions/range/index.js';
import { descriptorOf } from '../stages/index.js';
import { type Hints, hintsFor, noHints } from './hints.js';

type Groups = Pick<Grouping, 'without' | 'labels'>;

/** The grouping of the samples. `absent_over_time` needs no labels at all. */
export function sampleGrouping(
  { op, grouping }: RangeAggregation,
  pushed: Groups | undefined,
): Groups | undefined {
  const isOfNothing = rangeFunctions[op].ofNothing !== undefined;
  return isOfNothing ? { without: false, labels: [] } : (grouping ?? pushed);
}

/** The work that parsers may skip in a range aggregation whose samples have this grouping. */
export function sampleHints({ range }: RangeAggregation, grouping: Groups | undefined): Hints {
  if (grouping === undefined || grouping.without) return noHints;
  const { query, unwrap } = range;
  const stages: readonly Stage[] = [...query.stages, ...(unwrap?.filters ?? [])];
  const names = stages.flatMap((stage) => descriptorOf(stage).hintedNames(stage));
  return hintsFor([...names, ...grouping.labels, ...(unwrap === undefined ? [] : [unwrap.name])]);
}

/**
 * The stages of a range aggregation as Loki runs them: a `line_format` whose line no later stage reads is dropped, even an invalid one,
 * unless bytes are counted.
 */
export function dropUnusedLineFormats({ op, range }: RangeAggregation): readonly Stage[] {
  const { stages } = range.query;
  if (rangeFunctions[op].ofLines === 'bytes') return stages;
  const lastReader = stages.findLastIndex((stage) => descriptorOf(stage).readsLine);
  return stages.filter(
    (stage, index) => descriptorOf(stage).changesLine !== 'for-readers' || index < lastReader,
  );
}

/**
 * A range aggregation without the stages that do not affect its samples: those that Loki drops, parsers that it skips, and stages that
 * change a line that nothing reads, if they cannot fail.
 * @param pushed the grouping of a vector aggregation around it, see pushedGrouping
 */
export function withoutUnread(range: RangeAggregation, pushed?: Groups): RangeAggregation {
  const asLoki = withStages(range, dropUnusedLineFormats(range));
  const read = withStages(asLoki, withoutSkipped(asLoki, pushed));
  return withStages(read, withoutUnreadChanges(read));
}

function withoutSkipped(range: RangeAggregation, pushed: Groups | undefined): readonly Stage[] {
  const { stages } = range.range.query;
  const { skipsParsers } = sampleHints(range, sampleGrouping(range, pushed));
  // `regexp` runs in any case, and a template sees its labels.
  if (!skipsParsers || stages.some(seesAll)) return stages;
  return stages.filter((stage) => descriptorOf(stage).source(stage) === undefined);
}

function withoutUnreadChanges({ op, range }: RangeAggregation): readonly Stage[] {
  const { stages } = range.query;
  if (rangeFunctions[op].ofLines === 'bytes') return stages;
  const lastReader = stages.findLastIndex((stage) => descriptorOf(stage).readsLine || seesAll(stage));
  return stages.filter((stage, index) => index < lastReader || !onlyChangesLine(stage));
}

/** True if a template may read any label, and maybe the line. */
function seesAll(stage: Stage): boolean {
  return descriptorOf(stage).names(stage) === 'all';
}

function onlyChangesLine(stage: Stage): boolean {
  const descriptor = descriptorOf(stage);
  const isParser = descriptor.source(stage) !== undefined;
  return descriptor.changesLine !== 'no' && !isParser && descriptor.errors(stage) === 'kept';
}

/** A range aggregation with other stages. */
export function withStages(range: RangeAggregation, stages: readonly Stage[]): RangeAggregation {
  if (stages.length === range.range.query.stages.length) return range;
  return { ...range, range: { ...range.range, query: { ...range.range.query, stages } } };
}
