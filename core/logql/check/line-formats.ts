import type { RangeAggregation, Stage } from '../ast.js';
import { rangeFunctions } from '../functions/range/index.js';
import { descriptorOf } from '../stages/index.js';

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
