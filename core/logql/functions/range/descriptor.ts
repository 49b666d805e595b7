import type { LabelSet } from '../../../base/label-set.js';
import type { RangeAggregation, RangeOp } from '../../ast.js';
import type { StateKind } from '../../metric/states.js';
import type { MakeWork } from '../../metric/work.js';
import type { Join } from '../join.js';

/** Everything about one range function. */
export interface RangeFunction {
  /** Tells whether a number precedes the range. */
  readonly parameter: 'required' | 'refused';
  /** Tells whether the function may have its own `by` or `without`. */
  readonly grouping: 'allowed' | 'refused';
  /** The value of a line; undefined if `unwrap` is required. */
  readonly ofLines: 'count' | 'bytes' | undefined;
  /**
   * The relevant properties of unwrapped values: the values alone, their sum, whose last digits depend on the order of addition, or
   * their times as well. Undefined if `unwrap` is refused.
   */
  readonly ofValues: 'values' | 'total' | 'times' | undefined;
  /** The state kept for each series and time bucket, or a factory of other work. */
  readonly work: StateKind | MakeWork;
  /** The way to merge its values of parts of the logs; undefined if that is impossible. */
  readonly join: Join | undefined;
  /** Tells when Loki splits it into shards: always, only without a surrounding aggregation, or never. */
  readonly shards: 'always' | 'outermost' | 'never';
  /** Returns the function of which this one is the per-second value. */
  readonly perSecondOf?: (node: RangeAggregation) => RangeOp;
  /** The unit of its values, where it is not that of the lines or of the unwrapped values. */
  readonly unit?: 'none' | 'per-second';
  /** True if Loki lists the parts of an instant query separately where `json` or `logfmt` may make any label. */
  readonly listsParts?: true;
  /** The labels of its only series, which is 1 wherever there are no samples (`absent_over_time`). */
  readonly ofNothing?: (node: RangeAggregation) => LabelSet;
}
