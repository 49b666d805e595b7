import type { LabelSet } from '../../base/label-set.js';
import { type MemoryAccount, unboundedMemory } from '../../base/memory/account.js';
import { zeroBytes, zeroNumbers } from '../../base/memory/slab.js';
import type { Steps } from '../../base/pace/steps.js';
import type {
  BinaryExpr,
  Grouping,
  LabelReplaceExpr,
  LiteralExpr,
  MetricExpr,
  RangeAggregation,
  VectorAggregation,
  VectorExpr,
} from '../ast.js';
import type { SampleGroups } from '../pipeline/types.js';
import { isReal, type NumberArray, type StateKind, type Summary, type ValueLists } from './states.js';
import { type Columns, type ColumnValues, type RangeWindows, type SeriesCells, Slider } from './windows.js';

/** Accumulates the samples of a range function. */
export interface Work {
  add(cell: number, value: number, offset: number): void;
  /** Adds one or more values of one time. */
  addAll(cell: number, values: Float64Array, offset: number): void;
  /** Adds values of which only a statistic is known; undefined if all values must be known. */
  readonly summary?:
    { readonly of: Summary['of']; add(cell: number, value: number, count: number): void } | undefined;
  /** True if individual values are kept. */
  readonly keepsValues: boolean;
  /** The number of kept values of a series. */
  valuesOf(series: SeriesCells): number;
  finish(series: SeriesCells, out: ColumnValues): Steps<void>;
  /** The arrays that hold all state, for the same work in another thread. */
  pack(): readonly NumberArray[];
  /** Loads such arrays. */
  load(arrays: readonly NumberArray[]): void;
}

/** Parameters and bounds of work. */
export interface WorkRequest {
  readonly node: RangeAggregation;
  readonly windows: RangeWindows;
  /** Maximum number of values that may be kept. */
  readonly maxValues: number;
  readonly memory: MemoryAccount;
}

export type MakeWork = (request: WorkRequest) => Work;

/** Keeps a state per series and bucket of time. */
export function stateWork(kind: StateKind, { windows, memory }: WorkRequest): Work {
  const { width, summary } = kind;
  const slider = new Slider(kind, windows, memory);
  let states = new Float64Array(256 * width);
  const makeRoom = (cell: number): void => {
    if (cell * width < states.length) return;
    memory.charge(states.byteLength, 'samples by series and time');
    const larger = new Float64Array(states.length * 2);
    larger.set(states);
    states = larger;
  };
  return {
    add(cell, value, offset) {
      makeRoom(cell);
      kind.add(states, cell * width, value, offset);
    },
    addAll(cell, values, offset) {
      makeRoom(cell);
      for (const value of values) kind.add(states, cell * width, value, offset);
    },
    summary: summary && {
      of: summary.of,
      add(cell, value, count) {
        makeRoom(cell);
        summary.add(states, cell * width, value, count);
      },
    },
    keepsValues: false,
    valuesOf: () => 0,
    *finish(series, out) {
      slider.slide(series, states, out);
    },
    pack: () => [states],
    load: (arrays) => {
      states = arrays.find(isReal) ?? states;
    },
  };
}

/** Number of values kept for a series. */
export function countValues(lists: ValueLists, { cells, from, to }: SeriesCells): number {
  let count = 0;
  for (let index = from; index < to; index += 1) count += lists.sizeOf(cells[index] ?? 0);
  return count;
}

/** A metric expression in which the parts that read logs are leaves; the type of leaves depends on the stage of planning. */
export type MetricTree<Planned> =
  | { readonly kind: 'leaf'; readonly leaf: Planned }
  | {
      readonly kind: 'aggregate';
      readonly node: VectorAggregation;
      readonly of: MetricTree<Planned>;
      /** For an average that Loki splits into a sum and a count: the seconds by which it divides the sum first, 1 for values that are not rates. */
      readonly dividedBy?: number;
    }
  | { readonly kind: 'label-replace'; readonly node: LabelReplaceExpr; readonly of: MetricTree<Planned> }
  | {
      readonly kind: 'binary';
      readonly node: BinaryExpr;
      readonly left: MetricTree<Planned>;
      readonly right: MetricTree<Planned>;
    }
  /** The series of all parts, concatenated. */
  | { readonly kind: 'concat'; readonly parts: readonly MetricTree<Planned>[] }
  | VectorExpr
  | LiteralExpr;

/** A metric expression and its tree. */
export interface PlannedMetric<Planned> {
  readonly expr: MetricExpr;
  readonly tree: MetricTree<Planned>;
}

/** The leaves in evaluation order. */
export function leavesOf<Planned>(tree: MetricTree<Planned>): readonly Planned[] {
  switch (tree.kind) {
    case 'leaf':
      return [tree.leaf];
    case 'aggregate':
    case 'label-replace':
      return leavesOf(tree.of);
    case 'binary':
      return [...leavesOf(tree.left), ...leavesOf(tree.right)];
    case 'concat':
      return tree.parts.flatMap(leavesOf);
    case 'vector':
    case 'literal':
      return [];
  }
}

/** Plans the leaves further, one after the other in evaluation order. */
export function* mapLeaves<Before, After>(
  tree: MetricTree<Before>,
  plan: (leaf: Before) => Steps<After>,
): Steps<MetricTree<After>> {
  switch (tree.kind) {
    case 'leaf':
      return { kind: 'leaf', leaf: yield* plan(tree.leaf) };
    case 'aggregate':
    case 'label-replace':
      return { ...tree, of: yield* mapLeaves(tree.of, plan) };
    case 'binary': {
      const left = yield* mapLeaves(tree.left, plan);
      return { ...tree, left, right: yield* mapLeaves(tree.right, plan) };
    }
    case 'concat': {
      const parts: MetricTree<After>[] = [];
      for (const part of tree.parts) parts.push(yield* mapLeaves(part, plan));
      return { kind: 'concat', parts };
    }
    case 'vector':
    case 'literal':
      return tree;
  }
}

/** One series over all columns: `values[c]` is valid where `present[c]` is 1. NaN is a normal value. */
export interface SeriesRow {
  readonly labels: LabelSet;
  readonly values: Float64Array;
  /** One byte per column: 1 or 0. */
  readonly present: Uint8Array;
}

/** A series without values. */
export function emptyRow(labels: LabelSet, count: number): SeriesRow {
  return { labels, values: zeroNumbers(count), present: zeroBytes(count) };
}

/** Series over the columns of a grid. Rows may be made on the fly, so they can be read only once. */
export interface SeriesTable {
  readonly rows: Iterable<SeriesRow>;
  /** True if series were left out, which a source may do for the root of a partial answer beyond `maxSeries`. */
  readonly isCut?: boolean;
  /** True if all rows have different labels and exactly the requested ones, so that nothing needs to be added up. */
  readonly isGrouped?: boolean;
}

/** A part of an expression that reads logs: a range aggregation, or a sum around it whose grouping is already applied to the samples. */
export interface Leaf {
  readonly range: RangeAggregation;
  /**
   * The grouping of the sum around the range aggregation: the table is grouped by these labels and added up. Undefined when the table has
   * the series of the range aggregation itself.
   */
  readonly pushed: Grouping | undefined;
  /**
   * The grouping of an aggregation around it that is not pushed down: no other labels of its series are used later. They still distinguish
   * the series, but rows need not have them.
   */
  readonly folded: Grouping | undefined;
  /**
   * As `folded`, for an aggregation whose groups may also be the series themselves: the maximum of the maxima of series is that of all
   * their samples.
   */
  readonly merged: SampleGroups | undefined;
  /**
   * True if Loki would send this part's series to its front end: they count against the series limit there, separately for each hour of the
   * range.
   */
  readonly isCapped: boolean;
  /** True when the leaf is the whole query: its series are the answer's. */
  readonly isRoot: boolean;
}

export interface LeafRequest<Planned = Leaf> {
  readonly leaf: Planned;
  readonly columns: Columns;
  readonly limits: MetricLimits;
  readonly signal: AbortSignal;
}

/** Provides the series of leaves: counted from samples in this process (entryLeafSource), or from a backend's statistics. */
export interface LeafSource<Planned = Leaf> {
  series(request: LeafRequest<Planned>): Promise<SeriesTable>;
}

/** `exact` answers `approx_topk` as `topk`; `loki` refuses it as Loki does unless it is enabled there (`-approx-topk`). */
export type ApproxTopk = 'loki' | 'exact';

/** Limits of one evaluation. 0 means unlimited. */
export interface MetricLimits {
  /** Series of an answer (`max_query_series`). */
  readonly maxSeries: number;
  /** Answers the busiest `maxSeries` series with a warning instead of an error, for Logs Drilldown. */
  readonly isPartial: boolean;
  /** Loki's `split_queries_by_interval`: capped leaves count their series within windows of this length. */
  readonly splitMs: number;
  readonly approxTopk?: ApproxTopk;
  /** Pairs of a series and a time bucket with samples, in one range aggregation. */
  readonly maxCells: number;
  /** Values that `quantile_over_time` and `rate_counter` keep. */
  readonly maxValues: number;
  /** Charged for all memory of an evaluation. */
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
  /** Size of the result as JSON in bytes. */
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

/** The limits of binary expressions, including those that operators can set. */
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

export interface Warned {
  readonly warnings: readonly string[];
}

export type MetricResult =
  | (Warned & { readonly kind: 'matrix'; readonly series: readonly SeriesResult[] })
  | (Warned & { readonly kind: 'vector'; readonly samples: readonly SampleResult[] })
  | (Warned & { readonly kind: 'scalar'; readonly point: Point });

/** One point of a series: milliseconds since the epoch, and the value. */
export interface Point {
  readonly timestampMs: number;
  readonly value: number;
}

export interface SeriesResult {
  readonly labels: LabelSet;
  readonly points: readonly Point[];
}

export interface SampleResult {
  readonly labels: LabelSet;
  readonly point: Point;
}
