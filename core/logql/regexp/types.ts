/** One match: `index` and `end` are UTF-16 offsets, `groups[0]` is the whole match, groups that did not match are undefined. */
export interface LinearMatch {
  readonly index: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
  /** Named groups that matched. */
  readonly named: ReadonlyMap<string, string>;
}

/** A compiled pattern with RE2's meaning that runs in time linear in the text. */
export interface LinearRegExp {
  /** Number of capturing groups, not counting the whole match. */
  readonly groupCount: number;
  /** Names of the named groups, in the order of the groups. */
  readonly groupNames: readonly string[];
  /** Instructions of its automaton, or the equivalent in memory. */
  readonly size: number;
  /** Worst-case nanoseconds of `test` per UTF-16 unit of the text, roughly. */
  readonly testCost: number;
  /** As `testCost`, for finding one match. */
  readonly findCost: number;
  test(text: string): boolean;
  exec(text: string): LinearMatch | undefined;
  /** Replaces every match; `$1`, `$name`, `${name}` and `$$` in the replacement are expanded as Go's regexp does. */
  replaceAll(text: string, replacement: string, onMatch?: () => void): string;
  /** Replaces every match with the literal text. */
  replaceAllLiteral(text: string, replacement: string, onMatch?: () => void): string;
  /** Counts the matches that `replaceAll` would replace. Calls `onMatch` for each, because all together may take quadratic time. */
  count(text: string, onMatch?: () => void): number;
}

/** Options of a pattern: `anchored` requires a match of the whole text, `dotAll` lets `.` match a line feed. */
export interface CompileOptions {
  readonly anchored?: boolean;
  readonly dotAll?: boolean;
}

/** A pattern that RE2 refuses; the message is that of Go's regexp package. */
export class RegExpSyntaxError extends Error {
  override readonly name = 'RegExpSyntaxError';
}
