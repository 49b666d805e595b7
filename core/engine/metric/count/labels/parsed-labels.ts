import type { LogsqlFilter, LogsqlPipe } from '../../../../victoria/logsql/ast.js';
import { and, field, not, or } from '../../../../victoria/logsql/build.js';
import type { Steps } from '../../../../base/pace/steps.js';

/** Extracts the labels of a parser from lines in the backend. */
export interface ParsedLabels {
  /** Identifies the parser in keys. */
  readonly key: string;
  /** Rows that the backend parses although Loki does not. */
  readonly misparsedRows: LogsqlFilter | undefined;
  /** The same labels, extracted as lines like these write them; unchanged if there is only one way. Each step handles one line. */
  fittedTo?(lines: readonly string[], names: readonly string[]): Steps<ParsedLabels>;
  /** The column of the value of a label; `labelColumn` by default. */
  columnOf?(name: string): string;
  /** Extracts the values into their columns. */
  values(names: readonly string[]): readonly LogsqlPipe[];
  /** Extracts the values, and the texts that `decided` and `short` look at. */
  texts(names: readonly string[]): readonly LogsqlPipe[];
  /** Matches, after `texts`, lines whose labels are the extracted values; undefined if those of all lines are. */
  decided(names: readonly string[]): LogsqlFilter | undefined;
  /** Undefined if the backend cannot write a line with the values. */
  short?(names: readonly string[]): ShortLines | undefined;
  /** A line with these labels, which have values, and no others of the parser; undefined if none could be found. */
  lineOf(labels: readonly (readonly [name: string, value: string])[]): string | undefined;
  /** True if a line can be written with this value of a label; it can with any by default. */
  canHold?(name: string, value: string): boolean;
  /** Lines from which the parser makes no label, and always the same error; undefined if there are none. */
  readonly unparsed?: UnparsedLines | undefined;
  /** The values that the backend would extract from a line, except in rare cases; undefined if the line represents only itself. */
  valuesOf(line: string, names: readonly string[]): ParsedValues | undefined;
}

/** Lines that all mean the same to a parser. */
export interface UnparsedLines {
  readonly filter: LogsqlFilter;
  readonly includes: (line: string) => boolean;
  /** One of them. */
  readonly representative: string;
}

/** The lines that start with none of these texts. */
export function linesNotStartingWith(starts: readonly string[]): UnparsedLines {
  return {
    filter: not(or(...starts.map((text) => field('_msg', { kind: 'exact-prefix', text })))),
    includes: (line) => !starts.some((start) => line.startsWith(start)),
    representative: 'x',
  };
}

/** The values of labels, in the order of their names; undefined for labels that a line does not have. */
export type ParsedValues = readonly (string | undefined)[];

/** Lines that only have the needed labels. */
export interface ShortLines {
  /** Matches, after `texts`, the lines to replace. */
  readonly replaced: LogsqlFilter;
  /** A pattern for `format` with all values. */
  readonly pattern: string;
}

// Unlikely as the prefix of a client's field, which would only be overwritten during counting.
const prefix = '__line_';

/** The column of a label that was extracted from lines. */
export function labelColumn(name: string): string {
  return prefix + name;
}

/** The labels as `fittedTo` makes them. */
export function* fitted(
  labels: ParsedLabels,
  lines: readonly string[],
  names: readonly string[],
): Steps<ParsedLabels> {
  return labels.fittedTo === undefined ? labels : yield* labels.fittedTo(lines, names);
}

/** The column of the text before the key of a label. */
export function textBefore(index: number): string {
  return `${prefix}_before_${index}`;
}

/** The column of the text behind the key of a label. */
export function textBehind(index: number): string {
  return `${prefix}_behind_${index}`;
}

/** The column of the text that a regexp matches. */
export const textOfMatch = `${prefix}_match`;

/** The column of the line with blanks around it. */
export const paddedLine = `${prefix}_padded`;

interface Restriction {
  readonly key: string;
  /** Matches lines that the restriction leaves. */
  readonly isDecided: (names: readonly string[]) => LogsqlFilter;
  readonly mayDiffer: (line: string, names: readonly string[]) => boolean;
  readonly unparsed?: UnparsedLines;
}

/** The labels of a parser in lines that pass a filter. */
export function restricted(
  labels: ParsedLabels,
  { key, isDecided, mayDiffer, unparsed }: Restriction,
): ParsedLabels {
  return {
    ...labels,
    key,
    unparsed,
    decided: (names) => and(isDecided(names), labels.decided(names) ?? and()),
    short: (names) => {
      const lines = labels.short?.(names);
      return lines && { ...lines, replaced: and(isDecided(names), lines.replaced) };
    },
    valuesOf: (line, names) => (mayDiffer(line, names) ? undefined : labels.valuesOf(line, names)),
  };
}
