/** One match: `index` and `end` are UTF-16 offsets, `groups[0]` is the whole match, groups that took no part are undefined. */
export interface LinearMatch {
  readonly index: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
  /** Named groups that took part in the match. */
  readonly named: ReadonlyMap<string, string>;
}

/** A compiled pattern with RE2 meaning whose running time is linear in the text. */
export interface LinearRegExp {
  /** The pattern as it was given. */
  readonly source: string;
  /** Number of capturing groups, the whole match not counted. */
  readonly groupCount: number;
  /** Names of the named groups, in the order of the groups. */
  readonly groupNames: readonly string[];
  /** Instructions of its automaton, or what takes as much memory. */
  readonly size: number;
  /** Nanoseconds that `test` takes at most for each UTF-16 unit of the text, roughly. */
  readonly testCost: number;
  /** The same for finding one match. */
  readonly findCost: number;
  test(text: string): boolean;
  exec(text: string): LinearMatch | undefined;
  /** Replaces every match; `$1`, `$name`, `${name}` and `$$` in the replacement are expanded as Go's regexp does. */
  replaceAll(text: string, replacement: string, onMatch?: () => void): string;
  /** Replaces every match with the text as it stands. */
  replaceAllLiteral(text: string, replacement: string, onMatch?: () => void): string;
  /** Counts the matches that `replaceAll` would replace. `onMatch` is called at each: all together may take quadratic time. */
  count(text: string, onMatch?: () => void): number;
}

/** How a pattern is read: `anchored` demands a match of the whole text, `dotAll` lets `.` match a line feed. */
export interface CompileOptions {
  readonly anchored?: boolean;
  readonly dotAll?: boolean;
}

/** A pattern that RE2 refuses; the message is the text of Go's regexp package. */
export class RegExpSyntaxError extends Error {
  override readonly name = 'RegExpSyntaxError';
}
