import { labelName } from '../../../logql/pipeline/slot.js';
import type { Extraction } from '../../../logql/stages/stage.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, exact, formatInto, not, or } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { rebuildLine } from '../../../victoria/names/missing-line.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import { levelNames, normalLevel } from '../../../victoria/names/level-words.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { missingLineRows, rebuiltMark } from '../../plan/missing-lines.js';
import { plainName } from '../../plan/columns.js';
import type { FieldsPlan, LeafPlan } from '../../plan/types.js';
import { hasRows } from '../../rows/count-by-time.js';
import type { LeafContext } from '../context.js';
import { decline, type Declined } from '../cost.js';
import type { RowRequest } from '../rows.js';
import type { RowGroup } from './counting.js';
import type { ValueDigest } from './labels/questions.js';
import type { SelectionProfile } from './profile.js';
import { type Get, type LineDigest, noLevel, withLevels } from './line-digests.js';
import { streamFields, type StreamListing } from './stream-listing.js';

/** Requests the rows of a leaf without a stored line, with all their fields. */
export function rowsWithoutLine(
  { logs, selection }: Pick<LeafPlan, 'logs' | 'selection'>,
  range: TimeRange,
  { missing }: Pick<SelectionProfile, 'missing'>,
  rows: LogsqlFilter,
): RowRequest {
  return {
    ...{ filter: and(logs.filter, rows), selection: and(selection, rows), range },
    ...{ columns: undefined, selectedRows: missing },
  };
}

/** True if a row of the selection has a stored line; only rebuilt lines contain exactly their fields. Remembered if there is one. */
export async function findLines(
  selection: LogsqlFilter,
  range: TimeRange,
  context: Pick<LeafContext, 'declines' | 'naming' | 'upstream'>,
): Promise<boolean> {
  if (hasKnownLines(selection, context)) return true;
  const { upstream, naming, declines } = context;
  const found = await hasRows(and(selection, not(missingLineRows(naming))), range, upstream);
  if (found) declines.remember(decline('lines-needed'), 'lines', printFilter(selection));
  return found;
}

/** True if the selection is known to have stored lines. */
export function hasKnownLines(selection: LogsqlFilter, { declines }: Pick<LeafContext, 'declines'>): boolean {
  return declines.of('lines', printFilter(selection)) !== undefined;
}

/** The fields that determine everything visible of rows without a line. */
export interface RebuiltFields {
  readonly all: readonly string[];
  /** Fields with the name of a level, in the order of rebuilt lines. */
  readonly levels: readonly string[];
}

const levelFields: ReadonlySet<string> = new Set(levelNames);
/** Maximum number of groups that these fields do not determine sufficiently. */
const maxUnshown = 50;

export function rebuiltFields({ names, readsJson }: FieldsPlan, listing: StreamListing): RebuiltFields {
  const wanted = new Set([...names, ...[...names].map(plainName)]);
  const needsLevel =
    names.has(detectedLevelName) && [...listing.streams.values()].some(({ level }) => level === undefined);
  const levels = needsLevel ? listing.fields.filter((field) => levelFields.has(field)).sort() : [];
  const parsed = readsJson ? parsedFields(wanted, listing) : [];
  return { all: [...new Set([...parsed, ...levels])], levels };
}

/** True if the grouped fields of rows without a line determine their level. */
function isLevelShown({ stream, get }: RowGroup, { levels }: RebuiltFields, reader: RowReader): boolean {
  const { level, fields: ofStream } = reader.stream(stream);
  if (level !== undefined) return true;
  const first = levels.find((field) => !ofStream.has(field) && (get(field) ?? '') !== '');
  return first !== undefined && normalLevel(get(first) ?? '') !== undefined;
}

/** True if rows of the group may have no fields except those of their stream. */
function mayBeEmpty({ stream, get }: RowGroup, { all }: RebuiltFields, reader: RowReader): boolean {
  const { fields: ofStream } = reader.stream(stream);
  return all.every((field) => ofStream.has(field) || (get(field) ?? '') === '');
}

// Unlikely as the name of a client's field, which would only be overwritten during counting.
const kind = '__shape_kind';

/** Puts rows with and without a line into separate groups. Rows without a line get an empty one; their fields are columns of the count. */
export function besideLines(
  lines: LineDigest | undefined,
  levels: LineDigest | undefined,
  /** Matches rows whose level may be in their line. */
  undecided: LogsqlFilter,
  naming: Naming,
): LineDigest {
  const both = lines && levels ? withLevels(lines, levels) : (lines ?? levels);
  const decided = levels === undefined ? [] : [formatInto(kind, 'decided', not(undecided))];
  // Lines that do not matter would create many groups.
  const cleared = (levels?.columns ?? []).map((name) => formatInto(name, '', exact(kind, 'decided')));
  return {
    pipes: [
      ...(both?.pipes ?? []),
      ...decided,
      ...cleared,
      formatInto(kind, 'missing', missingLineRows(naming)),
    ],
    columns: [...(both?.columns ?? []), kind],
    representativeOf(get) {
      if (get(kind) === 'missing') return { line: '' };
      const digest = get(kind) === 'decided' ? lines : both;
      return digest === undefined ? { line: noLevel } : digest.representativeOf(get);
    },
  };
}

/** Selections without stored lines. */
export const noStoredLines: LineDigest = { pipes: [], columns: [], representativeOf: () => ({ line: '' }) };

/** Groups that are counted, and a filter for the rows of all others, which are read. */
interface CountedBeside {
  readonly groups: readonly RowGroup[];
  readonly unread: LogsqlFilter | undefined;
}

/**
 * Removes the groups of rows without a line that these fields do not determine sufficiently, and all groups with the same values in them: rows
 * are selected by them.
 */
export function withoutUnshown(
  groups: readonly RowGroup[],
  { names, readsJson }: FieldsPlan,
  rebuilt: RebuiltFields,
  { reader, naming }: Pick<LeafContext, 'reader' | 'naming'>,
): CountedBeside | Declined {
  const { all } = rebuilt;
  const isMissing = ({ representative }: RowGroup): boolean => representative?.line === '';
  const isUnshown = (group: RowGroup): boolean =>
    (names.has(detectedLevelName) && !isLevelShown(group, rebuilt, reader)) ||
    (readsJson && mayBeEmpty(group, rebuilt, reader));
  const keyOf = ({ get }: RowGroup): string => JSON.stringify(all.map((name) => get(name) ?? ''));
  const unread = new Map<string, LogsqlFilter>();
  for (const group of groups)
    if (isMissing(group) && isUnshown(group))
      unread.set(keyOf(group), and(...all.map((name) => exact(name, group.get(name) ?? ''))));
  if (unread.size > maxUnshown) return decline('too-many-shapes');
  return {
    groups: groups.filter((group) => !isMissing(group) || !unread.has(keyOf(group))),
    unread: unread.size === 0 ? undefined : and(missingLineRows(naming), or(...unread.values())),
  };
}

/** The fields from which `| json` makes one of these labels in a rebuilt line. */
export function parsedFields(names: ReadonlySet<string>, { fields }: StreamListing): readonly string[] {
  return fields.filter((field) => names.has(labelName(field)));
}

/** Finds the fields from which a parser makes one of these labels in a rebuilt line; undefined for a parser that is not of JSON. */
export function fieldsByLabel(
  parser: Extraction,
  listing: StreamListing,
): ((names: ReadonlySet<string>) => readonly string[]) | undefined {
  if (parser.from === 'json-keys') return (names) => parsedFields(names, listing);
  if (parser.from !== 'json-paths') return undefined;
  const fields = new Set(listing.fields);
  return (names) => {
    const keys = parser.paths.flatMap(([name, [key = '', nested]]) =>
      names.has(name) && nested === undefined && fields.has(key) ? [key] : [],
    );
    return [...new Set(keys)].sort();
  };
}

/** A line with the values that a group has in these fields, in place of the rebuilt lines of its rows. */
export function rebuiltLineOf(names: readonly string[], get: Get): string {
  const pairs = names.map((name) => [name, get(name) ?? ''] as const);
  return rebuildLine([...pairs.filter(([, value]) => value !== ''), rebuiltMark]);
}

/** Gathers the values of a field in rows without a line. */
export interface FieldDigest {
  readonly digest: ValueDigest;
  /** Stream fields that are in no line, provided that every row has its stream's value in them. */
  readonly streamFields: readonly string[];
}

/**
 * Gathers the values of a field, grouped by other fields, in rows without a line; undefined unless exactly one field makes the label.
 * @param fieldsOf see fieldsByLabel
 */
export function fieldDigest(
  names: ReadonlySet<string>,
  name: string,
  listing: StreamListing,
  fieldsOf: NonNullable<ReturnType<typeof fieldsByLabel>>,
): FieldDigest | undefined {
  const [valueColumn, another] = fieldsOf(new Set([name]));
  const ofStreams = streamFields(listing.streams);
  if (valueColumn === undefined || another !== undefined || ofStreams.has(valueColumn)) return undefined;
  const others = fieldsOf(new Set([...names].filter((other) => other !== name)));
  if (others.includes(valueColumn)) return undefined;
  const columns = others.filter((field) => !ofStreams.has(field));
  const lineOf = (get: Get, value: string): string => {
    const found = columns.map((field) => [field, get(field) ?? ''] as const);
    return rebuildLine([...found, [valueColumn, value] as const].filter(([, text]) => text !== ''));
  };
  const digest: ValueDigest = {
    pipes: [],
    columns,
    valueColumn,
    representativeOf: (get) => ({ line: lineOf(get, '') }),
    undecidedLine: () => '',
    lineOf,
  };
  return { digest, streamFields: others.filter((field) => ofStreams.has(field)) };
}
