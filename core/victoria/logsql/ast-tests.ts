/** Tests of LogsQL on the value of a field. */

/** The text occurs between word boundaries (`f:"text"`); the empty text matches the missing field. */
export interface PhraseTest {
  readonly kind: 'phrase';
  readonly text: string;
}
/** The text starts at a word boundary (`f:"text"*`); the empty text matches every non-empty value (`f:*`). */
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
/** The value contains the text (`f:*"text"*`); the empty text matches every value, also a missing one. */
export interface SubstringTest {
  readonly kind: 'substring';
  readonly text: string;
}
/** The value contains a match of the RE2 pattern (`f:~"re"`); `.` matches line feeds. */
export interface RegexpTest {
  readonly kind: 'regexp';
  readonly pattern: string;
}
/** List tests: `in` compares the whole value, the `contains` forms search for phrases. */
export interface ListTest {
  readonly kind: 'in' | 'contains-all' | 'contains-any' | 'json-array-contains-any';
  readonly values: readonly string[];
}
/** Case-insensitive phrase or prefix: `f:i("text")`, `f:i("text"*)`. */
export interface AnyCaseTest {
  readonly kind: 'any-case';
  readonly text: string;
  readonly prefix: boolean;
}
/** The phrases occur in this order: `f:seq("a","b")`. */
export interface SequenceTest {
  readonly kind: 'sequence';
  readonly phrases: readonly string[];
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
/** The value is stored with this column type, such as `uint8` or `string`. */
export interface ValueTypeTest {
  readonly kind: 'value-type';
  readonly type: string;
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
  | PhraseTest
  | PrefixTest
  | ExactTest
  | ExactPrefixTest
  | SubstringTest
  | RegexpTest
  | ListTest
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
