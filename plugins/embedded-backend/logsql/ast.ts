import type {
  FieldRef,
  GroupKey,
  LogsqlFilter,
  LogsqlPipe,
  ExtractPipe,
  FormatPipe,
  ReplacePipe,
  StatsFunction,
  UnpackPipe,
} from '../../../core/victoria/logsql/ast.js';
import type { statsNames } from '../../../core/victoria/logsql/words-table.js';

/** LogsQL of the backend: besides what the proxy writes, pipes that only users of the backend write. */

/** Settings before a query: `options(...)`. */
export interface QueryOptions {
  readonly concurrency?: number;
  readonly parallelReaders?: number;
  readonly ignoreGlobalTimeFilter?: boolean;
  readonly allowPartialResponse?: boolean;
  /** Nanoseconds: shifts the query's time range back by this much. */
  readonly timeOffset?: bigint;
}

export interface EmbeddedQuery {
  readonly options?: QueryOptions;
  readonly filter: LogsqlFilter;
  readonly pipes: readonly EmbeddedPipe[];
}

export interface SortKey {
  readonly field: string;
  readonly desc: boolean;
}
/** `sort by (...) [desc] [partition by (...)] [offset n] [limit n] [rank as f]`. */
export interface OrderPipe {
  readonly kind: 'sort';
  readonly by: readonly SortKey[];
  readonly desc: boolean;
  readonly partitionBy: readonly string[];
  readonly offset?: number;
  readonly limit?: number;
  readonly rankAs?: string;
}
/**
 * A rule for columns that a pipe would overwrite. `keep-original`: a column with a value keeps it; `skip-empty`: an empty result does not
 * overwrite.
 */
export interface UpdateRule {
  readonly rule?: 'keep-original' | 'skip-empty';
}
/** The columns to drop. */
export interface DeletePipe {
  readonly kind: 'delete';
  readonly fields: readonly FieldRef[];
}
/** `first n by (...)` and `last n by (...)`. */
export interface EdgePipe {
  readonly kind: 'first' | 'last';
  readonly count: number;
  readonly by: readonly SortKey[];
  readonly partitionBy: readonly string[];
  readonly rankAs?: string;
}
/** The rows to skip. */
export interface OffsetPipe {
  readonly kind: 'offset';
  readonly count: number;
}
export type EmbeddedStatsName = (typeof statsNames)[number];
/** One result column of statistics. `source` is the compared field of `row_min`, `row_max`, `field_min` and `field_max`. */
export interface EmbeddedFunction extends Omit<StatsFunction, 'name'> {
  readonly name: EmbeddedStatsName;
  readonly phi?: number;
  readonly source?: string;
  readonly sortBy?: readonly SortKey[];
}
/**
 * Statistics; a bucket may have any form: `5m`, `1KB`, `/24`, `day`. `running_stats` and `total_stats` keep the rows and add the value so
 * far, or over all rows.
 */
export interface EmbeddedStatsPipe {
  readonly kind: 'stats' | 'running_stats' | 'total_stats';
  readonly by: readonly GroupKey[];
  readonly functions: readonly EmbeddedFunction[];
}
export interface TopPipe {
  readonly kind: 'top';
  readonly count: number;
  readonly by: readonly string[];
  readonly hitsAs: string;
  readonly rankAs?: string;
}
/** `len(f) as x` in bytes, `hash(f) as x`, `json_array_len(f) as x`. */
export interface DerivePipe {
  readonly kind: 'len' | 'hash' | 'json_array_len';
  readonly field: string;
  readonly as: string;
}
/** Every item of a JSON array becomes a separate row. */
export interface UnrollPipe {
  readonly kind: 'unroll';
  readonly by: readonly string[];
  readonly condition?: LogsqlFilter;
}
export interface SplitPipe {
  readonly kind: 'split';
  readonly separator: string;
  readonly from: string;
  readonly as: string;
}
export interface CollapseNumsPipe {
  readonly kind: 'collapse_nums';
  readonly at: string;
  readonly prettify: boolean;
  readonly condition?: LogsqlFilter;
}
export interface DecolorizePipe {
  readonly kind: 'decolorize';
  readonly field: string;
}
export interface FieldValuesPipe {
  readonly kind: 'field_values';
  readonly field: string;
  readonly limit?: number;
}
export interface FacetsPipe {
  readonly kind: 'facets';
  readonly limit?: number;
  readonly maxValuesPerField?: number;
  readonly maxValueLength?: number;
  readonly keepConst: boolean;
}

export interface UnpackLogfmtPipe extends Omit<UnpackPipe, 'kind'>, UpdateRule {
  readonly kind: 'unpack_logfmt';
}
/** `replace` with a limit, and `replace_regexp`; without a limit, all occurrences. */
export interface LimitedReplacePipe extends Omit<ReplacePipe, 'kind'> {
  readonly kind: 'replace' | 'replace_regexp';
  readonly limit?: number;
}
/** All fields when the list is empty. */
export interface PackLogfmtPipe {
  readonly kind: 'pack_logfmt';
  readonly fields: readonly FieldRef[];
  readonly as: string;
}

export type EmbeddedPipe =
  | Exclude<
      LogsqlPipe,
      FormatPipe | ExtractPipe | UnpackPipe | { readonly kind: 'replace' | 'sort' | 'stats' | 'union' }
    >
  | OrderPipe
  | ((FormatPipe | ExtractPipe | UnpackPipe) & UpdateRule)
  | DeletePipe
  | EdgePipe
  | OffsetPipe
  | EmbeddedStatsPipe
  | TopPipe
  | UnpackLogfmtPipe
  | LimitedReplacePipe
  | DerivePipe
  | PackLogfmtPipe
  | UnrollPipe
  | SplitPipe
  | CollapseNumsPipe
  | DecolorizePipe
  | { readonly kind: 'drop_empty_fields' }
  | FieldValuesPipe
  | FacetsPipe
  /** Adds the rows of another query to the rows so far. */
  | { readonly kind: 'union'; readonly query: EmbeddedQuery };

/** List tests: `json-array-contains-any` compares whole items, the others search for phrases. */
export interface ContainsTest {
  readonly kind: 'contains-all' | 'contains-any' | 'json-array-contains-any';
  readonly values: readonly string[];
}
/** A list test whose values are the last field of the rows returned by a query. */
export interface SubqueryTest {
  readonly kind: 'subquery';
  readonly test: 'in' | 'contains-all' | 'contains-any';
  readonly query: EmbeddedQuery;
}
/** `f:range[min,max]`: numbers, durations or sizes, as written. */
export interface RangeTest {
  readonly kind: 'range';
  readonly min: string;
  readonly max: string;
  readonly minIncluded: boolean;
  readonly maxIncluded: boolean;
}
/** The value has `min` to `max` Unicode characters; a missing maximum is open. */
export interface LengthRangeTest {
  readonly kind: 'len-range';
  readonly min: number;
  readonly max?: number;
}
/** Compares the value with that of another field of the same row. */
export interface FieldCompareTest {
  readonly kind: 'eq-field' | 'le-field';
  readonly other: string;
}
/** The value contains (`any`) or equals (`full`) text of the pattern, with `<N>`, `<W>`, `<IP4>`, `<UUID>`, `<DATETIME>` and more. */
export interface PatternTest {
  readonly kind: 'pattern';
  readonly where: 'any' | 'full' | 'prefix' | 'suffix';
  readonly pattern: string;
}

/** The tests of values that only users of the backend write. */
export type ForeignTest =
  | ContainsTest
  | SubqueryTest
  /** Case-insensitive phrase or prefix: `f:i("text")`, `f:i("text"*)`. */
  | { readonly kind: 'any-case'; readonly text: string; readonly prefix: boolean }
  /** The phrases occur in this order: `f:seq("a","b")`. */
  | { readonly kind: 'sequence'; readonly phrases: readonly string[] }
  | RangeTest
  | { readonly kind: 'ipv6-range'; readonly from: string; readonly to: string }
  /** `from <= value < to` as text. */
  | { readonly kind: 'string-range'; readonly from: string; readonly to: string }
  | LengthRangeTest
  | FieldCompareTest
  | PatternTest;
