import type { LogsqlFilter, LogsqlPipe } from '../../../../victoria/logsql/ast.js';
import { and, everything, formatInto, not } from '../../../../victoria/logsql/build.js';
import type { Steps } from '../../../../base/pace/steps.js';
import type { TimeRange } from '../../../../base/time/range.js';
import type { LeafContext } from '../../context.js';
import { decline, type Declined, isDeclined } from '../../cost.js';
import { type LabelSourceFields, streamsWithoutLevel, undecidedRows } from '../grouping.js';
import {
  type Get,
  joinUncertainLines,
  levelQuestion,
  type LineDigest,
  type LineQuestion,
  minLinesPerClass,
  noLevel,
  type ProvenDigest,
  representedLevel,
  type RepresentativeLine,
  type UncertainLines,
} from '../line-digests.js';
import type { StreamListing } from '../stream-listing.js';
import { rowsOfStreams } from '../time-segments.js';

/** Maximum number of labels to count lines by; with more there would be as many groups as lines. */
const maxNames = 6;
/** Minimum share of the sample's lines that must become shorter for shortening to be worthwhile. */
const minShortenedShare = 0.75;

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
  /** The group that the backend would put a line in, except in rare cases; the line itself if it represents only itself. */
  groupOf(line: string, names: readonly string[]): string;
}

/** Lines that only have the needed labels. */
export interface ShortLines {
  /** Matches, after `texts`, the lines to replace. */
  readonly replaced: LogsqlFilter;
  /** A pattern for `format` with all values. */
  readonly pattern: string;
}

// Unlikely as the prefix of a client's field, which would only be overwritten during counting.
const prefix = '__line_';
const wholeLine = '__line__whole';

/** The column of a label that was extracted from lines. */
export function labelColumn(name: string): string {
  return prefix + name;
}

function columnOf(labels: ParsedLabels, name: string): string {
  return labels.columnOf?.(name) ?? labelColumn(name);
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

/**
 * Labels that a parser may add, which are those that not every stream already has: then it adds one with a suffix.
 * @param visible the labels that can be distinguished
 */
export function openNames(
  names: readonly string[],
  { streams }: StreamListing,
  visible: ReadonlySet<string> | 'all',
): readonly string[] {
  if (visible === 'all') return names;
  const identities = [...streams.values()];
  return names.filter((name) => !identities.every(({ labelNames }) => labelNames.has(name)));
}

/** Distinguishes lines by the labels that a parser extracts from them. */
export function labelsQuestion(anyLabels: ParsedLabels, open: readonly string[]): LineQuestion | Declined {
  const key = `${anyLabels.key} ${JSON.stringify(open)}`;
  function* digestFor(lines: readonly string[]): Steps<LineDigest | Declined> {
    const labels = yield* fitted(anyLabels, lines, open);
    const groups = new Set<string>();
    let areProven = true;
    for (const line of lines) {
      const group = labels.groupOf(line, open);
      groups.add(group);
      areProven &&= group !== line;
      yield;
    }
    if (groups.size * minLinesPerClass > lines.length) return decline('lines-differ');
    const { certain, uncertainLines } = certaintyOf(labels, open);
    if (uncertainLines === undefined) return certain;
    const digest = labelsDigestOf(labels, open);
    return areProven ? { ...digest, proven: { uncertainLines, digest: certain } } : digest;
  }
  return unlessTooMany(open, { key, digestFor });
}

/** Declines if there are too many labels, or none: without labels, valid and invalid lines cannot be distinguished. */
function unlessTooMany<Digest extends LineDigest>(
  open: readonly string[],
  question: LineQuestion<Digest>,
): LineQuestion<Digest> | Declined {
  if (open.length === 0) return decline('no-parsed-labels');
  return open.length > maxNames ? decline('too-many-parsed-labels') : question;
}

/** The values represent a line if its labels are certain. Any other line represents only itself. */
function labelsDigestOf(labels: ParsedLabels, names: readonly string[]): LineDigest {
  const decided = labels.decided(names) ?? everything;
  return {
    pipes: [...labels.texts(names), formatInto(wholeLine, ''), formatInto(wholeLine, '<_msg>', not(decided))],
    columns: [...names.map((name) => columnOf(labels, name)), wholeLine],
    representativeOf: (get) => representing(lineOf(labels, get, names)),
  };
}

/** The digest of lines that the values represent, and the lines that they may not represent; undefined if there can be none. */
interface Certainty {
  readonly certain: LineDigest;
  readonly uncertainLines: UncertainLines | undefined;
}

function certaintyOf(labels: ParsedLabels, names: readonly string[]): Certainty {
  const decided = labels.decided(names);
  return {
    certain: {
      pipes: labels.values(names),
      columns: names.map((name) => columnOf(labels, name)),
      representativeOf: (get) => representing(lineOf(labels, get, names)),
    },
    uncertainLines: decided && {
      key: `${labels.key} ${JSON.stringify(names)}`,
      pipes: labels.texts(names),
      filter: not(decided),
    },
  };
}

function representing(line: string | undefined): RepresentativeLine | undefined {
  return line === undefined ? undefined : { line };
}

/** Groups lines by all labels that a parser extracts except one, whose values are gathered. */
export interface ValueDigest extends LineDigest {
  readonly valueColumn: string;
  readonly proven?: ProvenDigest<ValueDigest> | undefined;
  /** The line of a group that represents only itself; empty for other groups. */
  undecidedLine(get: Get): string;
  /** A line with the labels of a group and this value; undefined if none could be found. */
  lineOf(get: Get, value: string): string | undefined;
  /** True if rows have the value in its column, and not in their line. */
  readonly isStored?: true;
  /** The level of the lines of a group; undefined if it does not matter. */
  levelOf?(get: Get): string;
}

/** Levels that lines of a selection decide. */
export interface LineLevels {
  /** Matches the rows whose level may be in their line. */
  readonly undecided: LogsqlFilter;
  /** Distinguishes these lines by level; undefined if no line need be read for its level. */
  readonly digest: LineDigest | Declined | undefined;
  /** The lines that the cheaper digest counts wrongly. */
  readonly uncertainLines: UncertainLines | undefined;
}

/** Finds out how lines write their level. */
export async function levelsInLines(
  isVisible: boolean,
  sources: LabelSourceFields,
  streamListing: StreamListing,
  selected: { readonly selection: LogsqlFilter; readonly range: TimeRange },
  context: LeafContext,
): Promise<LineLevels> {
  const { filter: undecided, selection } = undecidedRows(streamListing, sources);
  if (!isVisible || streamsWithoutLevel(streamListing.streams).length === 0)
    return { undecided, digest: undefined, uncertainLines: undefined };
  const digest = await context.digests.of(levelQuestion, {
    ...{ ...context, selection: and(selected.selection, selection), range: selected.range },
    rows: rowsOfStreams(streamListing.listed),
  });
  const found = isDeclined(digest) ? undefined : digest.proven?.uncertainLines;
  const uncertainLines = found && { ...found, filter: and(undecided, found.filter) };
  return { undecided, digest, uncertainLines };
}

/** Adds the level of lines to a digest of their labels. */
export function valuesByLevel(
  digest: ValueDigest,
  levels: LineDigest,
  { undecided, uncertainLines: ofLevels }: Pick<LineLevels, 'undecided' | 'uncertainLines'>,
): ValueDigest {
  const both = (values: ValueDigest, byLevel: LineDigest): ValueDigest => ({
    ...values,
    // Levels that do not matter would create more groups.
    pipes: [
      ...values.pipes,
      ...byLevel.pipes,
      ...byLevel.columns.map((name) => formatInto(name, '', not(undecided))),
    ],
    columns: [...values.columns, ...byLevel.columns],
    levelOf: (get) => representedLevel(byLevel.representativeOf(get) ?? { line: noLevel }),
  });
  const uncertainLines = joinUncertainLines([digest.proven?.uncertainLines, ofLevels]);
  return {
    ...both(digest, levels),
    proven: uncertainLines && {
      uncertainLines,
      digest: both(digest.proven?.digest ?? digest, levels.proven?.digest ?? levels),
    },
  };
}

/** Gathers the values of a label. */
export function valuesQuestion(
  anyLabels: ParsedLabels,
  open: readonly string[],
  name: string,
): LineQuestion<ValueDigest> | Declined {
  const others = open.filter((one) => one !== name);
  function* digestFor(lines: readonly string[]): Steps<ValueDigest | Declined> {
    const labels = yield* fitted(anyLabels, lines, open);
    const groups = new Set<string>();
    let areProven = true;
    for (const line of lines) {
      const isAlone = labels.groupOf(line, open) === line;
      groups.add(isAlone ? line : labels.groupOf(line, others));
      areProven &&= !isAlone;
      yield;
    }
    if (groups.size * minLinesPerClass > lines.length) return decline('lines-differ');
    const { certain, uncertainLines } = certaintyOf(labels, open);
    const digest = gather(labels, certain, open, name);
    if (uncertainLines === undefined) return digest;
    const proven = areProven ? { uncertainLines, digest } : undefined;
    return { ...gather(labels, labelsDigestOf(labels, open), open, name), proven };
  }
  const key = `values ${anyLabels.key} ${name} ${JSON.stringify(open)}`;
  return unlessTooMany(open, { key, digestFor });
}

function gather(
  labels: ParsedLabels,
  digest: LineDigest,
  open: readonly string[],
  name: string,
): ValueDigest {
  const valueColumn = columnOf(labels, name);
  return {
    pipes: digest.pipes,
    columns: digest.columns.filter((column) => column !== valueColumn),
    valueColumn,
    representativeOf: (get) => representing(lineOf(labels, get, open)),
    undecidedLine: (get) => get(wholeLine) ?? '',
    lineOf: (get, value) => lineOf(labels, (column) => (column === valueColumn ? value : get(column)), open),
  };
}

function lineOf(labels: ParsedLabels, get: Get, names: readonly string[]): string | undefined {
  const line = get(wholeLine) ?? '';
  if (line !== '') return line;
  const values = names.map((name) => [name, get(columnOf(labels, name)) ?? ''] as const);
  return labels.lineOf(values.filter(([, value]) => value !== ''));
}

/** Shortens lines to the labels that a parser extracts. `columns` is empty, because `_msg` becomes the short line. */
export function shorteningQuestion(
  anyLabels: ParsedLabels,
  open: readonly string[],
): LineQuestion | Declined {
  function* digestFor(lines: readonly string[]): Steps<LineDigest | Declined> {
    const labels = yield* fitted(anyLabels, lines, open);
    const shortLines = labels.short?.(open);
    if (shortLines === undefined) return decline('lines-stay-long');
    const { pattern, replaced } = shortLines;
    let short = 0;
    for (const line of lines) {
      if (labels.groupOf(line, open) !== line) short += 1;
      yield;
    }
    if (short < lines.length * minShortenedShare) return decline('lines-stay-long');
    const texts = labels.texts(open);
    const digest = shortening(texts, pattern, replaced);
    if (short < lines.length) return digest;
    const uncertainLines = {
      key: `short ${labels.key} ${JSON.stringify(open)}`,
      pipes: texts,
      filter: not(replaced),
    };
    return { ...digest, proven: { uncertainLines, digest: shortening(labels.values(open), pattern) } };
  }
  return unlessTooMany(open, { key: `short ${anyLabels.key} ${JSON.stringify(open)}`, digestFor });
}

/** @param condition matches the lines to shorten, after the pipes; undefined for all */
function shortening(pipes: readonly LogsqlPipe[], pattern: string, condition?: LogsqlFilter): LineDigest {
  return {
    pipes: [...pipes, formatInto('_msg', pattern, condition)],
    columns: [],
    representativeOf: (get) => ({ line: get('_msg') ?? '' }),
  };
}
