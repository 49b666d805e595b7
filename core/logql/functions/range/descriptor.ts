import type { LabelSet } from '../../../base/labels/label-set.js';
import type { RangeAggregation, RangeOp } from '../../ast.js';
import type { StateKind } from '../../metric/states.js';
import type { MakeWork } from '../../metric/work.js';
import type { Join } from '../join.js';

/** All that there is to know of a range function. */
export interface RangeFunction {
  /** The number in front of the range. */
  readonly parameter: 'required' | 'refused';
  /** Its own `by` or `without`. */
  readonly grouping: 'allowed' | 'refused';
  /** What a line counts for; undefined where `unwrap` is required. */
  readonly ofLines: 'count' | 'bytes' | undefined;
  /** What matters of unwrapped values: their total, the values alone, or their times as well. Undefined where `unwrap` is refused. */
  readonly ofValues: 'total' | 'values' | 'times' | undefined;
  /** What is kept of samples for each series and bucket of time; or what keeps them otherwise. */
  readonly work: StateKind | MakeWork;
  /** How its values in parts of the logs become its value; undefined where they cannot. */
  readonly join: Join | undefined;
  /** True when Loki divides it into shards: always, only where no aggregation is around it, or never. */
  readonly shards: 'always' | 'outermost' | 'never';
  /** The function whose value it is per second. */
  readonly perSecondOf?: (node: RangeAggregation) => RangeOp;
  /** True when Loki leaves the parts of an instant query side by side where `json` or `logfmt` may make any label. */
  readonly listsParts?: true;
  /** The labels of its only series, which is 1 wherever there are no samples. */
  readonly ofNothing?: (node: RangeAggregation) => LabelSet;
}
