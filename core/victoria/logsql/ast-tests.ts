/** Tests of LogsQL on the value of a field. */

/** List tests: `in` compares the whole value, the `contains` forms search for phrases. */
export interface ListTest {
  readonly kind: 'in' | 'contains-all' | 'contains-any' | 'json-array-contains-any';
  readonly values: readonly string[];
}
/** `f:>text`: compares as numbers (durations, sizes, times, addresses) if both sides are of that kind, otherwise as text. */
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
/** The value has `min` to `max` Unicode characters; a missing maximum is open. */
export interface LengthRangeTest {
  readonly kind: 'len-range';
  readonly min: number;
  readonly max?: number;
}
/** Compares the value with that of another field of the same row. */
export interface FieldCompareTest {
  readonly kind: 'eq-field' | 'lt-field' | 'le-field';
  readonly other: string;
}
/** The value contains (`any`) or equals (`full`) text of the pattern, with `<N>`, `<W>`, `<IP4>`, `<UUID>`, `<DATETIME>` and more. */
export interface PatternTest {
  readonly kind: 'pattern';
  readonly where: 'any' | 'full' | 'prefix' | 'suffix';
  readonly pattern: string;
}

/** All tests except those with a subquery. */
export type PlainTest =
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
  | ListTest
  /** Case-insensitive phrase or prefix: `f:i("text")`, `f:i("text"*)`. */
  | { readonly kind: 'any-case'; readonly text: string; readonly prefix: boolean }
  /** The phrases occur in this order: `f:seq("a","b")`. */
  | { readonly kind: 'sequence'; readonly phrases: readonly string[] }
  | CompareTest
  | RangeTest
  | AddressRangeTest
  /** `from <= value < to` as text. */
  | { readonly kind: 'string-range'; readonly from: string; readonly to: string }
  | LengthRangeTest
  /** The value is stored with this column type, such as `uint8` or `string`. */
  | { readonly kind: 'value-type'; readonly type: string }
  | FieldCompareTest
  | PatternTest;
