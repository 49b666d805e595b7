import type { LogsqlPipe } from './ast-pipes.js';

export type * from './ast-pipes.js';

/** A field by its exact name. */
export interface FieldName {
  readonly kind: 'name';
  readonly name: string;
}
/** All fields whose names start with `prefix`; the empty prefix means every field (`*`). */
export interface FieldPrefix {
  readonly kind: 'prefix';
  readonly prefix: string;
}
export type FieldRef = FieldName | FieldPrefix;

/** Every row: `*`. */
export interface AllFilter {
  readonly kind: 'all';
}
/** All parts match; at least two parts. */
export interface AndFilter {
  readonly kind: 'and';
  readonly parts: readonly LogsqlFilter[];
}
/** One part matches; at least two parts. */
export interface OrFilter {
  readonly kind: 'or';
  readonly parts: readonly LogsqlFilter[];
}
export interface NotFilter {
  readonly kind: 'not';
  readonly filter: LogsqlFilter;
}

/** One comparison inside `{...}`; a missing label equals the empty text, patterns are anchored and `.` matches line feeds. */
export type StreamMatcher = StreamValueMatcher | StreamListMatcher;
export interface StreamValueMatcher {
  readonly kind: 'value';
  readonly label: string;
  readonly op: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}
export interface StreamListMatcher {
  readonly kind: 'list';
  readonly label: string;
  readonly op: 'in' | 'not_in';
  readonly values: readonly string[];
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
 * Rows in `[now - offset - duration, now - offset)`, nanoseconds, where now is the evaluation instant.
 * Without a duration everything before `now - offset`.
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
  AllFilter | AndFilter | OrFilter | NotFilter | StreamFilter | TimeFilter | RelativeTimeFilter | FieldFilter;

/** The text stands between word borders (`f:"text"`); the empty text matches the missing field. */
export interface PhraseTest {
  readonly kind: 'phrase';
  readonly text: string;
}
/** The text starts at a word border (`f:"text"*`); the empty text matches every non-empty value (`f:*`). */
export interface PrefixTest {
  readonly kind: 'prefix';
  readonly text: string;
}
/** The value equals the text (`f:="text"`). */
export interface ExactTest {
  readonly kind: 'exact';
  readonly text: string;
}
/** The value starts with the text (`f:="text"*`). */
export interface ExactPrefixTest {
  readonly kind: 'exact-prefix';
  readonly text: string;
}
/** The value contains the text (`f:*"text"*`); the empty text matches every value, the missing one too. */
export interface SubstringTest {
  readonly kind: 'substring';
  readonly text: string;
}
/** The value contains a match of the RE2 pattern (`f:~"re"`); `.` matches line feeds. */
export interface RegexpTest {
  readonly kind: 'regexp';
  readonly pattern: string;
}
/** Lists: `in` wants the whole value, the `contains` forms want phrases. */
export interface ListTest {
  readonly kind: 'in' | 'contains-all' | 'contains-any' | 'json-array-contains-any';
  readonly values: readonly string[];
}
/** As a list test, the values being the last field of the rows that the query returns. */
export interface SubqueryTest {
  readonly kind: 'subquery';
  readonly test: 'in' | 'contains-all' | 'contains-any';
  readonly query: LogsqlQuery;
}
/** Phrase or prefix without regard to case: `f:i("text")`, `f:i("text"*)`. */
export interface AnyCaseTest {
  readonly kind: 'any-case';
  readonly text: string;
  readonly prefix: boolean;
}
/** The phrases occur one after the other: `f:seq("a","b")`. */
export interface SequenceTest {
  readonly kind: 'sequence';
  readonly phrases: readonly string[];
}
/** `f:>text`: by number (duration, size, time, address) when both sides are one, else as text. */
export interface CompareTest {
  readonly kind: 'compare';
  readonly op: '>' | '>=' | '<' | '<=';
  readonly value: string;
}
/** `f:range[min,max]`: numbers, durations or sizes, as written. */
export interface RangeTest {
  readonly kind: 'range';
  readonly min: string;
  readonly max: string;
  readonly minIncluded: boolean;
  readonly maxIncluded: boolean;
}
/** The value is an address in `[from, to]`, both in plain address form. */
export interface AddressRangeTest {
  readonly kind: 'ipv4-range' | 'ipv6-range';
  readonly from: string;
  readonly to: string;
}
/** `from <= value < to` as text. */
export interface StringRangeTest {
  readonly kind: 'string-range';
  readonly from: string;
  readonly to: string;
}
/** The value has `min` to `max` Unicode characters; a missing maximum is open. */
export interface LengthRangeTest {
  readonly kind: 'len-range';
  readonly min: number;
  readonly max?: number;
}
/** The value is stored with the given column type, such as `uint8` or `string`. */
export interface ValueTypeTest {
  readonly kind: 'value-type';
  readonly type: string;
}
/** The value compared with that of another field of the same row. */
export interface FieldCompareTest {
  readonly kind: 'eq-field' | 'lt-field' | 'le-field';
  readonly other: string;
}
/** The value holds (`any`) or is (`full`) text of the pattern, with `<N>`, `<W>`, `<IP4>`, `<UUID>`, `<DATETIME>` and more. */
export interface PatternTest {
  readonly kind: 'pattern';
  readonly where: 'any' | 'full' | 'prefix' | 'suffix';
  readonly pattern: string;
}

export type ValueTest =
  | PhraseTest
  | PrefixTest
  | ExactTest
  | ExactPrefixTest
  | SubstringTest
  | RegexpTest
  | ListTest
  | SubqueryTest
  | AnyCaseTest
  | SequenceTest
  | CompareTest
  | RangeTest
  | AddressRangeTest
  | StringRangeTest
  | LengthRangeTest
  | ValueTypeTest
  | FieldCompareTest
  | PatternTest;

/** Settings in front of a query: `options(...)`. */
export interface QueryOptions {
  readonly concurrency?: number;
  readonly parallelReaders?: number;
  readonly ignoreGlobalTimeFilter?: boolean;
  readonly allowPartialResponse?: boolean;
  /** Nanoseconds: the query sees the data of this much earlier. */
  readonly timeOffset?: bigint;
}

export interface LogsqlQuery {
  readonly options: QueryOptions;
  readonly filter: LogsqlFilter;
  readonly pipes: readonly LogsqlPipe[];
}
