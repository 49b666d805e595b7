import type { LogsqlFilter, LogsqlPipe } from '../../../../victoria/logsql/ast.js';
import { and, formatInto, not, or } from '../../../../victoria/logsql/build.js';
import type { Steps } from '../../../../base/pace/steps.js';
import type { TimeRange } from '../../../../base/time/range.js';
import type { ComparedLabels, ParsedNames } from '../../../plan/columns.js';
import type { LeafContext } from '../../context.js';
import { decline, type Declined, isDeclined } from '../../cost.js';
import { type LabelSourceFields, streamsWithoutLevel, undecidedRows } from '../grouping.js';
import { levelQuestion } from '../level-digest.js';
import {
  type Get,
  joinUncertainLines,
  type LineDigest,
  type LineQuestion,
  minLinesPerClass,
  noLevel,
  type OutcomeColumns,
  type ProvenDigest,
  representedLevel,
  type RepresentativeLine,
  type UncertainLines,
} from '../line-digests.js';
import type { StreamListing } from '../stream-listing.js';
import { rowsOfStreams } from '../time-segments.js';
import { captureLabels } from './captures.js';
import { regexpLabels } from './groups.js';
import { jsonThenLogfmtLabels } from './json-then-logfmt.js';
import { jsonLabels, jsonPathLabels } from './json.js';
import { logfmtLabels } from './logfmt.js';
import { byOutcome, classesOf, classValue, type ValueClass } from './outcomes.js';
import { fitted, labelColumn, type ParsedLabels, type UnparsedLines } from './parsed-labels.js';

/** Maximum number of labels to count lines by; with more there would be as many groups as lines. */
const maxNames = 6;
/** Minimum share of the sample's lines that must become shorter for shortening to be worthwhile. */
const minShortenedShare = 0.75;

// Unlikely as the name of a client's field, which would only be overwritten during counting.
const wholeLine = '__line__whole';

export function labelsOf({ parser }: Pick<ParsedNames, 'parser'>): ParsedLabels {
  switch (parser.from) {
    case 'json-keys':
      return jsonLabels;
    case 'json-then-pairs':
      return jsonThenLogfmtLabels;
    case 'json-paths':
      return jsonPathLabels(parser.paths);
    case 'pair-keys':
      return logfmtLabels;
    case 'captures':
      return captureLabels(parser.parts);
    case 'groups':
      return regexpLabels(parser.expression);
  }
}

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

function columnOf(labels: ParsedLabels, name: string): string {
  return labels.columnOf?.(name) ?? labelColumn(name);
}

/**
 * Distinguishes lines by the labels that a parser extracts from them.
 * @param compared labels of which only the outcomes of these comparisons matter (`digestByOutcome`)
 */
export function labelsQuestion(
  anyLabels: ParsedLabels,
  open: readonly string[],
  compared: ComparedLabels,
): LineQuestion | Declined {
  const key = `${anyLabels.key} ${JSON.stringify(open)} ${kindsOf(compared)}`;
  return groupingQuestion(key, anyLabels, { open, compared }, (_labels, digest) => digest);
}

type PlainDigest = Omit<LineDigest, 'outcomes' | 'proven'>;

/** @param make makes a digest of one that distinguishes all labels */
function groupingQuestion<Digest extends LineDigest & { readonly proven?: ProvenDigest<Digest> | undefined }>(
  key: string,
  anyLabels: ParsedLabels,
  asked: LabelsToGroup,
  make: (labels: ParsedLabels, digest: PlainDigest) => Digest,
): LineQuestion<Digest> | Declined {
  const { open } = asked;
  function* digestFor(lines: readonly string[]): Steps<Digest | Declined> {
    const labels = yield* fitted(anyLabels, lines, open);
    const { groups, areCertain, outcomes } = yield* groupLines(labels, lines, asked);
    if (groups * minLinesPerClass > lines.length) return decline('lines-differ');
    const columns = open.map((name) => columnOf(labels, name));
    const representativeOf = (get: Get): RepresentativeLine | undefined => {
      const line = lineOf(labels, get, open);
      return line === undefined ? undefined : { line };
    };
    const unparsed = unparsedIn(lines, labels);
    const apart =
      unparsed === undefined ? [] : [formatInto(wholeLine, unparsed.representative, unparsed.filter)];
    const certain = {
      pipes: [...labels.values(open), ...apart],
      columns: unparsed === undefined ? columns : [...columns, wholeLine],
      representativeOf,
    };
    const digest = { ...make(labels, certain), outcomes };
    const decided = labels.decided(open);
    if (decided === undefined) return digest;
    // The values represent a line if its labels are certain. Any other line represents only itself.
    const texts = labels.texts(open);
    const isUncertain = not(unparsed === undefined ? decided : or(decided, unparsed.filter));
    const whole = [formatInto(wholeLine, ''), formatInto(wholeLine, '<_msg>', isUncertain)];
    const pipes = [...texts, ...whole, ...apart];
    const any = make(labels, { pipes, columns: [...columns, wholeLine], representativeOf });
    const uncertainLines = {
      key: `${labels.key} ${JSON.stringify(open)} ${unparsed !== undefined}`,
      ...{ pipes: texts, filter: isUncertain },
    };
    return { ...any, outcomes, proven: areCertain ? { uncertainLines, digest } : undefined };
  }
  return unlessTooMany(open, { key, digestFor });
}

/** The lines that the parser cannot parse, if there are some in a sample. */
function unparsedIn(lines: readonly string[], { unparsed }: ParsedLabels): UnparsedLines | undefined {
  return unparsed !== undefined && lines.some(unparsed.includes) ? unparsed : undefined;
}

/** Identifies what is compared, apart from the texts and numbers that it is compared with. */
function kindsOf(compared: ComparedLabels): string {
  const kinds = [...compared].map(([name, comparisons]) => [name, comparisons.map(({ kind }) => kind)]);
  return JSON.stringify(kinds);
}

/** Labels to distinguish lines by. */
interface LabelsToGroup {
  readonly open: readonly string[];
  readonly compared: ComparedLabels;
  /** The label whose values are gathered. */
  readonly gathered?: string;
}

/** The groups that the backend would make of the lines of a sample. */
interface SampleGroups {
  readonly groups: number;
  /** True if no line represents only itself. */
  readonly areCertain: boolean;
  readonly outcomes: OutcomeColumns | undefined;
}

function* groupLines(
  labels: ParsedLabels,
  lines: readonly string[],
  { open, compared, gathered }: LabelsToGroup,
): Steps<SampleGroups> {
  const columns = open.map((name) => columnOf(labels, name));
  // A column of two labels decides both.
  const replaced = open.filter(
    (name, index) =>
      compared.has(name) && columns.every((column, other) => other === index || column !== columns[index]),
  );
  const canHold = (name: string, value: string): boolean => labels.canHold?.(name, value) ?? true;
  const classes = new Map(replaced.map((name) => [name, classesThat(canHold, name, compared)]));
  const groups = new Set<string>();
  let areCertain = true;
  for (const line of lines) {
    const alike = labels.unparsed?.includes(line) === true ? labels.unparsed.representative : undefined;
    const values = alike === undefined ? labels.valuesOf(line, open) : undefined;
    areCertain &&= values !== undefined || alike !== undefined;
    const seen = values?.map((value, index) => {
      const name = open[index] ?? '';
      return name === gathered || value === undefined
        ? undefined
        : classValue(value, classes.get(name) ?? []);
    });
    groups.add(seen === undefined ? (alike ?? line) : JSON.stringify(seen));
    yield;
  }
  return {
    groups: groups.size,
    areCertain,
    outcomes:
      replaced.length === 0
        ? undefined
        : {
            columns: new Map(replaced.map((name) => [name, columnOf(labels, name)])),
            canHold,
          },
  };
}

/** The classes of the values of a label that lines can hold. */
function classesThat(
  canHold: OutcomeColumns['canHold'],
  name: string,
  compared: ComparedLabels,
): readonly ValueClass[] {
  return classesOf(compared.get(name) ?? []).filter(({ value }) => canHold(name, value));
}

/**
 * A digest that distinguishes the values of labels only by the outcomes of these comparisons. The digest
 * itself does not depend on the compared texts and numbers, so that it can be remembered for other queries.
 */
export function digestByOutcome<
  Digest extends LineDigest & { readonly proven?: ProvenDigest<Digest> | undefined },
>(digest: Digest, compared: ComparedLabels): Digest {
  const { outcomes, proven } = digest;
  if (outcomes === undefined) return digest;
  const pipes = [...outcomes.columns].flatMap(([name, column]) =>
    byOutcome(column, classesThat(outcomes.canHold, name, compared)),
  );
  return {
    ...digest,
    pipes: [...digest.pipes, ...pipes],
    proven: proven && { ...proven, digest: digestByOutcome(proven.digest, compared) },
  };
}

/** Declines if there are too many labels, or none: without labels, valid and invalid lines cannot be distinguished. */
function unlessTooMany<Digest extends LineDigest>(
  open: readonly string[],
  question: LineQuestion<Digest>,
): LineQuestion<Digest> | Declined {
  if (open.length === 0) return decline('no-parsed-labels');
  return open.length > maxNames ? decline('too-many-parsed-labels') : question;
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
  const uncertainLines = found && {
    ...found,
    filter: and(undecided, found.filter),
    withLevel: found.withLevel && or(not(undecided), found.withLevel),
  };
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

/**
 * Gathers the values of a label.
 * @param compared as for `labelsQuestion`
 */
export function valuesQuestion(
  anyLabels: ParsedLabels,
  open: readonly string[],
  name: string,
  compared: ComparedLabels,
): LineQuestion<ValueDigest> | Declined {
  const key = `values ${anyLabels.key} ${name} ${JSON.stringify(open)} ${kindsOf(compared)}`;
  const asked = { open, compared, gathered: name };
  return groupingQuestion(key, anyLabels, asked, (labels, digest): ValueDigest =>
    gather(labels, digest, open, name),
  );
}

function gather(
  labels: ParsedLabels,
  digest: PlainDigest,
  open: readonly string[],
  name: string,
): ValueDigest {
  const valueColumn = columnOf(labels, name);
  return {
    ...digest,
    columns: digest.columns.filter((column) => column !== valueColumn),
    valueColumn,
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
    const unparsed = unparsedIn(lines, labels);
    let short = 0;
    for (const line of lines) {
      if (unparsed?.includes(line) === true || labels.valuesOf(line, open) !== undefined) short += 1;
      yield;
    }
    if (short < lines.length * minShortenedShare) return decline('lines-stay-long');
    const texts = labels.texts(open);
    const digest = shortening(texts, pattern, replaced, unparsed);
    if (short < lines.length) return digest;
    const uncertainLines = {
      key: `short ${labels.key} ${JSON.stringify(open)} ${unparsed !== undefined}`,
      pipes: texts,
      filter: not(unparsed === undefined ? replaced : or(replaced, unparsed.filter)),
    };
    const certain = shortening(labels.values(open), pattern, unparsed && not(unparsed.filter), unparsed);
    return { ...digest, proven: { uncertainLines, digest: certain } };
  }
  return unlessTooMany(open, { key: `short ${anyLabels.key} ${JSON.stringify(open)}`, digestFor });
}

/** @param condition matches the lines to shorten to their labels, after the pipes; undefined for all */
function shortening(
  pipes: readonly LogsqlPipe[],
  pattern: string,
  condition: LogsqlFilter | undefined,
  unparsed: UnparsedLines | undefined,
): LineDigest {
  const alike = unparsed && formatInto('_msg', unparsed.representative, unparsed.filter);
  return {
    pipes: [...pipes, formatInto('_msg', pattern, condition), ...(alike === undefined ? [] : [alike])],
    columns: [],
    representativeOf: (get) => ({ line: get('_msg') ?? '' }),
  };
}
