import type { RangeAggregation, Stage } from '../ast.js';
import { rangeFunctions } from '../functions/range/index.js';

const readsLine: ReadonlySet<Stage['kind']> = new Set([
  ...(['line-filter', 'json', 'logfmt', 'regexp', 'pattern', 'unpack'] as const),
]);

/**
 * The stages of a range aggregation as Loki runs them: a `line_format` whose line no later stage reads is dropped, even an invalid one,
 * unless bytes are counted.
 */
export function dropUnusedLineFormats({ op, range }: RangeAggregation): readonly Stage[] {
  const { stages } = range.query;
  if (rangeFunctions[op].ofLines === 'bytes') return stages;
  const lastReader = stages.findLastIndex((stage) => readsLine.has(stage.kind));
  return stages.filter((stage, index) => stage.kind !== 'line-format' || index < lastReader);
}
