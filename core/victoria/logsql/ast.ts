import type { RowView } from './row.js';
import type { mathFunctions } from './words-table.js';

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
  /** True if each group selects one known stream. Such a list is narrower than the selector of a query. */
  readonly listsStreams?: true;
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

/** `f:>text`: compares as numbers (durations, sizes, times, addresses) if both sides are of that kind, otherwise as text. */
export interface CompareTest {
  readonly kind: 'compare';
  readonly op: '>' | '>=' | '<' | '<=';
  readonly value: string;
}
/** A test that the proxy does not write: it prints itself, and compiles itself to a test of the field of a row. */
export interface OwnTest {
  readonly kind: 'own';
  print(): string;
  compile(): (row: RowView, name: string) => boolean;
}
export type ValueTest =
  /** The text occurs between word boundaries (`f:"text"`); the empty text matches the missing field. */
  | { readonly kind: 'phrase'; readonly text: string }
  /** The text starts at a word boundary (`f:"text"*`); the empty text matches every non-empty value (`f:*`). */
  | { readonly kind: 'prefix'; readonly text: string }
  /** The value equals the text (`f:="text"`). */
  | { readonly kind: 'exact'; readonly text: string }
  /** The value starts with the text (`f:="text"*`). */
  | { readonly kind: 'exact-prefix'; readonly text: string }
  /** The value contains the text (`f:*"text"*`); the empty text matches every value, also a missing one. */
  | { readonly kind: 'substring'; readonly text: string }
  /** The value contains a match of the RE2 pattern (`f:~"re"`); `.` matches line feeds. */
  | { readonly kind: 'regexp'; readonly pattern: string }
  /** The value is one of these. */
  | { readonly kind: 'in'; readonly values: readonly string[] }
  | CompareTest
  /** The value is an address in `[from, to]`, both in plain address form. */
  | { readonly kind: 'ipv4-range'; readonly from: string; readonly to: string }
  /** The value is stored with this column type, such as `uint8` or `string`. */
  | { readonly kind: 'value-type'; readonly type: string }
  /** The value is less than that of another field of the same row. */
  | { readonly kind: 'lt-field'; readonly other: string }
  | OwnTest;

export interface LogsqlQuery {
  readonly filter: LogsqlFilter;
  readonly pipes: readonly LogsqlPipe[];
}

/** The columns to keep. */
export interface ProjectPipe {
  readonly kind: 'fields';
  readonly fields: readonly FieldRef[];
}
/** `copy` and `rename`: pairs are applied from left to right; a prefix maps to a prefix. */
export interface MovePipe {
  readonly kind: 'copy' | 'rename';
  readonly pairs: readonly { readonly from: FieldRef; readonly to: FieldRef }[];
}
/** `sort by (_time [desc]) limit n`: the oldest or the newest rows. */
export interface SortPipe {
  readonly kind: 'sort';
  readonly desc: boolean;
  readonly limit: number;
}
export interface CutPipe {
  readonly kind: 'limit';
  readonly count: number;
}
/** A field of `by (...)`; `bucket` rounds times down to a duration; `offset` shifts the boundaries back. */
export interface GroupKey {
  readonly field: string;
  readonly bucket?: { readonly size: string; readonly offset?: string };
}
export type StatsName =
  'avg' | 'count' | 'count_uniq' | 'count_uniq_hash' | 'max' | 'min' | 'sum' | 'sum_len' | 'values';
/** One result column of `stats`. */
export interface StatsFunction {
  readonly name: StatsName;
  readonly fields: readonly FieldRef[];
  readonly limit?: number;
  readonly condition?: LogsqlFilter;
  readonly as: string;
}
export interface StatsPipe {
  readonly kind: 'stats';
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
export interface FormatPipe {
  readonly kind: 'format';
  readonly condition?: LogsqlFilter;
  readonly pattern: string;
  readonly as: string;
}
/** `extract "a<b>c"` and `extract_regexp "(?P<b>..)"`. */
export interface ExtractPipe {
  readonly kind: 'extract' | 'extract_regexp';
  readonly condition?: LogsqlFilter;
  readonly pattern: string;
  readonly from: string;
}
export interface UnpackPipe {
  readonly kind: 'unpack_json';
  readonly condition?: LogsqlFilter;
  readonly from: string;
  /** Only these fields; all when empty. */
  readonly fields: readonly FieldRef[];
  readonly prefix: string;
}
/** Replaces all occurrences. */
export interface ReplacePipe {
  readonly kind: 'replace';
  readonly old: string;
  readonly replacement: string;
  readonly at: string;
  readonly condition?: LogsqlFilter;
}
/** All fields when the list is empty. */
export interface PackPipe {
  readonly kind: 'pack_json';
  readonly fields: readonly FieldRef[];
  readonly as: string;
}
export interface FieldNamesPipe {
  readonly kind: 'field_names';
  readonly as: string;
}
export type LogsqlPipe =
  | ProjectPipe
  | MovePipe
  | SortPipe
  | CutPipe
  | StatsPipe
  | UniqPipe
  | { readonly kind: 'filter'; readonly filter: LogsqlFilter }
  | MathPipe
  | FormatPipe
  | ExtractPipe
  | UnpackPipe
  | ReplacePipe
  | PackPipe
  | FieldNamesPipe
  /** Adds the rows of another query to the rows so far. */
  | { readonly kind: 'union'; readonly query: LogsqlQuery };
