import type { PlainTest } from './ast-tests.js';
import type { mathFunctions, statsNames } from './words-table.js';

export type * from './ast-tests.js';

export type FieldRef =
  /** A field by its exact name. */
  | { readonly kind: 'name'; readonly name: string }
  /** All fields whose names start with `prefix`; the empty prefix means every field (`*`). */
  | { readonly kind: 'prefix'; readonly prefix: string };

/** One comparison inside `{...}`; a missing label equals the empty text, patterns are anchored and `.` matches line feeds. */
export type StreamMatcher =
  | StreamValueMatcher
  | {
      readonly kind: 'list';
      readonly label: string;
      readonly op: 'in' | 'not_in';
      readonly values: readonly string[];
    };
export interface StreamValueMatcher {
  readonly kind: 'value';
  readonly label: string;
  readonly op: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}
/** Stream selector: one of the groups matches, in a group all matchers match; `{}` is one empty group. */
export interface StreamFilter {
  readonly kind: 'stream';
  readonly groups: readonly (readonly StreamMatcher[])[];
}

/** Rows with `min <= _time <= max`, Unix nanoseconds; a missing bound is open. */
export interface TimeFilter {
  readonly kind: 'time';
  readonly min?: bigint;
  readonly max?: bigint;
}
/**
 * Rows in `[now - offset - duration, now - offset)`, nanoseconds, where now is the time of evaluation. Without a duration, everything
 * before `now - offset`.
 */
export interface RelativeTimeFilter {
  readonly kind: 'time-relative';
  readonly duration?: bigint;
  readonly offset: bigint;
}

/** A test on the value of one field, or (with a prefix) on any of several fields. */
export interface FieldFilter {
  readonly kind: 'field';
  readonly field: FieldRef;
  readonly test: ValueTest;
}

export type LogsqlFilter =
  /** Every row: `*`. */
  | { readonly kind: 'all' }
  /** All parts match; at least two parts. */
  | { readonly kind: 'and'; readonly parts: readonly LogsqlFilter[] }
  /** One part matches; at least two parts. */
  | { readonly kind: 'or'; readonly parts: readonly LogsqlFilter[] }
  | { readonly kind: 'not'; readonly filter: LogsqlFilter }
  | StreamFilter
  | TimeFilter
  | RelativeTimeFilter
  | FieldFilter;

/** A list test whose values are the last field of the rows returned by a query. */
export interface SubqueryTest {
  readonly kind: 'subquery';
  readonly test: 'in' | 'contains-all' | 'contains-any';
  readonly query: LogsqlQuery;
}
export type ValueTest = PlainTest | SubqueryTest;

/** Settings before a query: `options(...)`. */
export interface QueryOptions {
  readonly concurrency?: number;
  readonly parallelReaders?: number;
  readonly ignoreGlobalTimeFilter?: boolean;
  readonly allowPartialResponse?: boolean;
  /** Nanoseconds: shifts the query's time range back by this much. */
  readonly timeOffset?: bigint;
}

export interface LogsqlQuery {
  readonly options: QueryOptions;
  readonly filter: LogsqlFilter;
  readonly pipes: readonly LogsqlPipe[];
}

/** `fields` and `delete`: the columns to keep or to drop. */
export interface ProjectPipe {
  readonly kind: 'fields' | 'delete';
  readonly fields: readonly FieldRef[];
}
/** `copy` and `rename`: pairs are applied from left to right; a prefix maps to a prefix. */
export interface MovePipe {
  readonly kind: 'copy' | 'rename';
  readonly pairs: readonly { readonly from: FieldRef; readonly to: FieldRef }[];
}
export interface SortKey {
  readonly field: string;
  readonly desc: boolean;
}
/** `sort by (...) [desc] [partition by (...)] [offset n] [limit n] [rank as f]`. */
export interface SortPipe {
  readonly kind: 'sort';
  readonly by: readonly SortKey[];
  readonly desc: boolean;
  readonly partitionBy: readonly string[];
  readonly offset?: number;
  readonly limit?: number;
  readonly rankAs?: string;
}
/** `first n by (...)` and `last n by (...)`. */
export interface EdgePipe {
  readonly kind: 'first' | 'last';
  readonly count: number;
  readonly by: readonly SortKey[];
  readonly partitionBy: readonly string[];
  readonly rankAs?: string;
}
export interface CutPipe {
  readonly kind: 'limit' | 'offset';
  readonly count: number;
}
/** A field of `by (...)`; `bucket` rounds its values down: `5m`, `1KB`, `/24`, `day`; `offset` shifts the boundaries back. */
export interface GroupKey {
  readonly field: string;
  readonly bucket?: { readonly size: string; readonly offset?: string };
}
export type StatsName = (typeof statsNames)[number];
/** One result column of `stats`. `source` is the compared field of `row_min`, `row_max`, `field_min` and `field_max`. */
export interface StatsFunction {
  readonly name: StatsName;
  readonly fields: readonly FieldRef[];
  readonly phi?: number;
  readonly source?: string;
  readonly limit?: number;
  readonly sortBy?: readonly SortKey[];
  readonly condition?: LogsqlFilter;
  readonly as: string;
}
/** `running_stats` and `total_stats` keep the rows and add the value so far, or over all rows. */
export interface StatsPipe {
  readonly kind: 'stats' | 'running_stats' | 'total_stats';
  readonly by: readonly GroupKey[];
  readonly functions: readonly StatsFunction[];
}
export interface UniqPipe {
  readonly kind: 'uniq';
  readonly by: readonly string[];
  /** Adds the column `hits` with the number of rows. */
  readonly hits: boolean;
  readonly limit?: number;
}
export interface TopPipe {
  readonly kind: 'top';
  readonly count: number;
  readonly by: readonly string[];
  readonly hitsAs: string;
  readonly rankAs?: string;
}
export type MathExpr =
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'negate'; readonly operand: MathExpr }
  | { readonly kind: 'binary'; readonly op: MathOperator; readonly left: MathExpr; readonly right: MathExpr }
  | { readonly kind: 'call'; readonly name: MathFunction; readonly args: readonly MathExpr[] };
export type MathOperator = '^' | '*' | '/' | '%' | '+' | '-' | '&' | 'xor' | 'or' | 'default';
export type MathFunction = (typeof mathFunctions)[number];
export interface MathPipe {
  readonly kind: 'math';
  readonly entries: readonly { readonly expr: MathExpr; readonly as: string }[];
}
/** The rows that a pipe changes, and its rule for columns that it would overwrite. */
export interface UpdateRules {
  readonly condition?: LogsqlFilter;
  /** `keep-original`: a column with a value keeps it; `skip-empty`: an empty result does not overwrite. */
  readonly rule: 'overwrite' | 'keep-original' | 'skip-empty';
}
export interface FormatPipe extends UpdateRules {
  readonly kind: 'format';
  readonly pattern: string;
  readonly as: string;
}
/** `extract "a<b>c"` and `extract_regexp "(?P<b>..)"`. */
export interface ExtractPipe extends UpdateRules {
  readonly kind: 'extract' | 'extract_regexp';
  readonly pattern: string;
  readonly from: string;
}
export interface UnpackPipe extends UpdateRules {
  readonly kind: 'unpack_json' | 'unpack_logfmt';
  readonly from: string;
  /** Only these fields; all when empty. */
  readonly fields: readonly FieldRef[];
  readonly prefix: string;
}
/** `replace` and `replace_regexp`; without a limit, all occurrences. */
export interface ReplacePipe {
  readonly kind: 'replace' | 'replace_regexp';
  readonly old: string;
  readonly replacement: string;
  readonly at: string;
  readonly limit?: number;
  readonly condition?: LogsqlFilter;
}
/** `len(f) as x` in bytes, `hash(f) as x`, `json_array_len(f) as x`. */
export interface DerivePipe {
  readonly kind: 'len' | 'hash' | 'json_array_len';
  readonly field: string;
  readonly as: string;
}
/** `pack_json` and `pack_logfmt`; all fields when the list is empty. */
export interface PackPipe {
  readonly kind: 'pack_json' | 'pack_logfmt';
  readonly fields: readonly FieldRef[];
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
export interface FieldNamesPipe {
  readonly kind: 'field_names';
  readonly as: string;
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

export type LogsqlPipe =
  | ProjectPipe
  | MovePipe
  | SortPipe
  | EdgePipe
  | CutPipe
  | StatsPipe
  | UniqPipe
  | TopPipe
  | { readonly kind: 'filter'; readonly filter: LogsqlFilter }
  | MathPipe
  | FormatPipe
  | ExtractPipe
  | UnpackPipe
  | ReplacePipe
  | DerivePipe
  | PackPipe
  | UnrollPipe
  | SplitPipe
  | CollapseNumsPipe
  | DecolorizePipe
  | { readonly kind: 'drop_empty_fields' }
  | FieldNamesPipe
  | FieldValuesPipe
  | FacetsPipe
  /** Adds the rows of another query to the rows so far. */
  | { readonly kind: 'union'; readonly query: LogsqlQuery };
