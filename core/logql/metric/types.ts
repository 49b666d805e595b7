import type { SampleResult, SeriesResult, Point } from './points.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import { unboundedMemory, type MemoryAccount } from '../../base/memory/account.js';
import type { Grouping, RangeAggregation } from '../ast.js';
import type { Columns } from './columns.js';

/** One series over all columns: `values[c]` counts where `present[c]` is 1. NaN is a value like any other. */
export interface SeriesRow {
  readonly labels: LabelSet;
  readonly values: Float64Array;
  /** A byte for each column: 1 or 0. */
  readonly present: Uint8Array;
}

/** Series over the columns of a grid. The rows may be made while they are read: read them once. Rows hold a value each. */
export interface SeriesTable {
  readonly rows: Iterable<SeriesRow>;
  /** True when series were left out, which a source may do for the root of a partial answer beyond `maxSeries`. */
  readonly isCut?: boolean;
  /** True when no two rows have the same labels and all of them are those that were asked for, so that there is nothing to add up. */
  readonly isGrouped?: boolean;
}

/** What of an expression reads logs: a range aggregation, or a sum around it whose grouping its samples have already. */
export interface Leaf {
  readonly range: RangeAggregation;
  /**
   * The grouping of the sum around the range aggregation: the table is asked by these labels, added up. Undefined when the
   * table is asked by the series of the range aggregation itself.
   */
  readonly pushed: Grouping | undefined;
  /**
   * The grouping of an aggregation around it that is not pushed: of the labels of its series no others are looked at any more. They
   * still tell the series apart, but rows need not have them.
   */
  readonly folded: Grouping | undefined;
  /**
   * True where Loki would send this part's series to its front end: there they count against the series limit, each hour of
   * the range on its own.
   */
  readonly isCapped: boolean;
  /** True when the leaf is the whole query: its series are the answer's. */
  readonly isRoot: boolean;
}

export interface LeafRequest {
  readonly leaf: Leaf;
  readonly columns: Columns;
  readonly limits: MetricLimits;
  readonly signal: AbortSignal;
}

/** Where the series of leaves come from: samples counted here (entryLeafSource), or a backend's statistics. */
export interface LeafSource {
  series(request: LeafRequest): Promise<SeriesTable>;
}

/** Bounds of one evaluation. A bound of 0 is none. */
export interface MetricLimits {
  /** Series of an answer (`max_query_series`). */
  readonly maxSeries: number;
  /** Answers the first `maxSeries` series and a warning instead of an error, as Loki does for Logs Drilldown. */
  readonly isPartial: boolean;
  /** The hours of Loki's `split_queries_by_interval`: capped leaves count their series by these windows. */
  readonly splitMs: number;
  /** Pairs of a series and a bucket of time that hold samples, in one range aggregation. */
  readonly maxCells: number;
  /** Values that `quantile_over_time` and `rate_counter` keep. */
  readonly maxValues: number;
  /** What is charged for all that an evaluation holds. */
  readonly memory: MemoryAccount;
  readonly binary: BinaryLimits;
}

/** Limits of binary expressions (docs/protocol/errors-and-limits.md#binary-operations). */
export interface BinaryLimits {
  readonly maxDepth: number;
  readonly maxEvaluations: number;
  readonly maxOperandBytes: number;
  readonly maxOperandRows: number;
  readonly maxSamples: number;
  readonly maxLabelBytes: number;
  /** Bytes of the result as JSON. */
  readonly maxEncodedBytes: number;
}

export const defaultMetricLimits: MetricLimits = {
  maxSeries: 500,
  isPartial: false,
  splitMs: 3_600_000,
  maxCells: 2_000_000,
  maxValues: 8_000_000,
  memory: unboundedMemory(),
  binary: {
    maxDepth: 64,
    maxEvaluations: 1024,
    maxOperandBytes: 268_435_456,
    maxOperandRows: 2_000_000,
    maxSamples: 1_000_000,
    maxLabelBytes: 67_108_864,
    maxEncodedBytes: 67_108_864,
  },
};

/** The limits of binary expressions with what operators may set. */
export function binaryLimits(process: {
  readonly binaryMetricMaxOperandBytes: number;
  readonly binaryMetricMaxArrays: number;
}): BinaryLimits {
  return {
    ...defaultMetricLimits.binary,
    maxOperandBytes: process.binaryMetricMaxOperandBytes,
    maxOperandRows: process.binaryMetricMaxArrays,
  };
}

interface Warned {
  readonly warnings: readonly string[];
}

export type MetricResult =
  | (Warned & { readonly kind: 'matrix'; readonly series: readonly SeriesResult[] })
  | (Warned & { readonly kind: 'vector'; readonly samples: readonly SampleResult[] })
  | (Warned & { readonly kind: 'scalar'; readonly point: Point });
