/** Counts rows without a line by the lines that the backend rebuilds from their fields, where the fields alone do not show what is asked. */
import type { LogsqlFilter, LogsqlPipe, PackPipe, ReplacePipe } from '../../../victoria/logsql/ast.js';
import {
  and,
  copy,
  exact,
  fieldName,
  fields,
  formatInto,
  matcher,
  not,
  or,
  streamMatch,
  substring,
  where,
} from '../../../victoria/logsql/build.js';
import { printFilter, printPipe } from '../../../victoria/logsql/print.js';
import { detectedLevelName, unknownLevel } from '../../../victoria/names/level.js';
import { lowerText } from '../../../logql/template/library/characters.js';
import type { Naming } from '../../../victoria/names/naming.js';
import { levelOfWords, normalLevel, spelledLevels } from '../../../victoria/names/level-words.js';
import { exactLines } from '../../plan/logs.js';
import { seesFieldsOnly } from '../../plan/metric.js';
import { missingLineRows, rebuiltLinesExactly } from '../../plan/missing-lines.js';
import { queryTooLong } from '../../plan/rules/rule.js';
import type { LeafPlan } from '../../plan/types.js';
import type { LeafContext } from '../context.js';
import { decline, type Declined, isDeclined } from '../cost.js';
import { countByDigest, type CountRequest, type RowGroup } from './counting.js';
import { hasName } from './grouping.js';
import { levelColumns, levelWordPipes } from './level-conditions.js';
import type { Get, LineDigest } from './line-digests.js';
import { rebuiltFields, rebuiltLineOf, type RebuiltFields } from './rebuilt-rows.js';
import type { StatisticsInput } from './statistics-input.js';
import { lineFieldsOf, streamFields, type StreamListing } from './stream-listing.js';

/** The leaf with line filters that the fields of rows without a line decide in its filter, if they are all of its line filters. */
export function withLinesDecided<Of extends LeafPlan>(leaf: Of, listing: StreamListing, naming: Naming): Of {
  const { logs } = leaf;
  const own = logs.recheck.length === 0 ? undefined : lineFieldsOf(listing);
  const passing =
    own &&
    rebuiltLinesExactly(
      logs.recheck,
      own.map(({ name, isClashing }) => ({
        name,
        within: isClashing ? streamMatch(matcher(name, '=', '')) : undefined,
      })),
    );
  if (passing === undefined) return leaf;
  const filter = and(logs.filter, or(not(missingLineRows(naming)), passing));
  if (queryTooLong.match(filter) === true) return leaf;
  const decided = { ...logs, filter, recheck: [] };
  return { ...leaf, logs: decided, seesFieldsOnly: seesFieldsOnly(leaf, decided) };
}

/** The count of rows without a line that fields cannot decide. */
export interface RebuiltRequest extends CountRequest {
  /** Matches the lines to count, as `_msg`, exactly. */
  readonly lines: LogsqlFilter;
  /** The fields whose values matter. */
  readonly rebuilt: RebuiltFields;
  readonly listing: StreamListing;
  readonly readsLevels: boolean;
}

/**
 * The request for the rows without a line of a count; undefined if their lines must be read.
 * @param asked the count of these rows
 */
export function rebuiltRequest(
  { plan, lines, streamListing: listing }: StatisticsInput,
  asked: CountRequest,
  readsLevels: boolean,
): RebuiltRequest | undefined {
  const { fields: ofFields, push, logs } = plan;
  // A level that lines do not decide is one of fields.
  const isLevelOfFields = hasName(push.names, detectedLevelName) && !readsLevels;
  if ((ofFields === undefined && lines !== undefined) || isLevelOfFields) return undefined;
  // Labels that are all visible are those of the stream, and the level.
  const names = push.names === 'all' ? new Set([detectedLevelName]) : push.names;
  const rebuilt = rebuiltFields(ofFields ?? { names, readsJson: false }, listing);
  return { ...asked, listing, rebuilt, readsLevels, lines: exactLines(logs.recheck) };
}

/** The outcome of a count by rebuilt lines. */
export interface RebuiltCount {
  /** Groups whose representative lines are those of rows with a stored line: `addGroup` needs no fields for them. */
  readonly rebuilt: readonly RowGroup[];
  /** Matches the rows that must still be read; undefined if there are none. */
  readonly unread: LogsqlFilter | undefined;
}

/**
 * Counts rows without a line by rebuilt lines, as far as possible. A selection for which it was not is remembered.
 * @param unread matches the rows, among those that the request counts; undefined if there are none
 */
export async function countUnread(
  unread: LogsqlFilter | undefined,
  request: RebuiltRequest | undefined,
  { selection, declines }: Pick<LeafPlan, 'selection'> & Pick<LeafContext, 'declines'>,
): Promise<RebuiltCount> {
  if (unread === undefined || request === undefined) return { rebuilt: [], unread };
  const columns = request.rows.map(({ grouping }) => grouping.columns);
  const key = ['rebuilt lines', columns, printFilter(selection)];
  const rebuilt = await declines.unless(key, () => countRebuiltLines(unread, request));
  return isDeclined(rebuilt) ? { rebuilt: [], unread } : { rebuilt, unread: undefined };
}

/** Maximum size of the filter and the pipes that rebuild lines: the backend limits queries to 16384 bytes. */
const maxQueryBytes = 14_000;

/** Declines if lines have too many fields, or texts that the backend writes ambiguously. */
async function countRebuiltLines(
  some: LogsqlFilter,
  request: RebuiltRequest,
): Promise<readonly RowGroup[] | Declined> {
  // Fields of rows without a line are not metadata, so streams alone decide the group.
  const rows = request.rows.map(({ filter, grouping }) => ({
    // Rows with a line are left out first, so that the backend reads no lines.
    filter: and(some, filter),
    grouping: {
      ...grouping,
      columns: grouping.texts === undefined ? ['_stream'] : grouping.streamKeyColumns,
    },
  }));
  const digest = rebuiltDigest(
    request,
    rows.flatMap(({ grouping }) => grouping.columns),
  );
  if (isDeclined(digest)) return digest;
  const pipes = digest.pipes.map(printPipe).join(' | ');
  const isTooLong = rows.some(
    ({ filter }) => Buffer.byteLength(printFilter(filter)) + Buffer.byteLength(pipes) > maxQueryBytes,
  );
  if (isTooLong) return decline('too-many-shapes');
  const counted = await countByDigest({ ...request, rows }, digest);
  if (isDeclined(counted)) return counted;
  return counted.undecided === undefined ? counted.groups : decline('too-many-shapes');
}

// Unlikely as the names of a client's fields, which would only be overwritten during counting.
const columnNames = { isEmpty: '__rebuilt_empty', isOdd: '__rebuilt_odd' } as const;
const marked = 'x';
/** The column of a field's value where it is part of the line. */
const ownColumn = (name: string): string => `__rebuilt_own_${name}`;
/** The column of a field's value while the line is rebuilt. */
const storedColumn = (name: string): string => `__rebuilt_stored_${name}`;

function rebuiltDigest(
  { lines, rebuilt, listing, readsLevels }: RebuiltRequest,
  columns: readonly string[],
): LineDigest | Declined {
  const { isEmpty, isOdd } = columnNames;
  const { level: word } = levelColumns;
  const ofStreams = streamFields(listing.streams);
  const inLines = lineFieldsOf(listing);
  if (inLines === undefined || inLines.length === 0) return decline('missing-lines');
  const own = inLines.map(({ name }) => name);
  const clashing = inLines.flatMap(({ name, isClashing }) => (isClashing ? [name] : []));
  const [areOwn, mayClash] = [new Set(own), new Set(clashing)];
  const isOwn = (name: string): boolean => areOwn.has(name);
  const pipes = [
    ...rebuildLines(own, [...columns, ...ofStreams.keys()], clashing),
    ...(lines.kind === 'all' ? [] : [where(lines)]),
    ...(readsLevels ? levelWordPipes(contexts, { harmless: harmlessNames(own) }) : []),
    formatInto(isEmpty, marked, exact('_msg', '')),
    formatInto(isOdd, marked, isAmbiguous),
  ];
  const columnOfField = (name: string): string => (mayClash.has(name) ? ownColumn(name) : name);
  const shown = rebuilt.all.filter(isOwn);
  const levelFields = rebuilt.levels.filter(isOwn);
  const levelOf = (get: Get): string => {
    const first = levelFields.map((name) => get(name) ?? '').find((value) => value !== '');
    return normalLevel(first ?? '') ?? normalLevel(get(word) ?? '') ?? unknownLevel;
  };
  return {
    pipes,
    columns: [...shown.map(columnOfField), ...(readsLevels ? [word] : []), isEmpty, isOdd],
    representativeOf(get) {
      if (get(isOdd) === marked) return undefined;
      if (get(isEmpty) === marked) return { line: '' };
      const ofRow: Get = (name) => get(columnOfField(name));
      const line = rebuiltLineOf(shown, ofRow);
      return readsLevels ? { line, level: levelOf(ofRow) } : { line };
    },
  };
}

/** Level words between the characters that usually stand around them in values of JSON. */
const contexts = ['""', '  ', ' :', '" ', '":', ' "'].flatMap(([before = '', behind = '']) =>
  spelledLevels.map((word) => before + word + behind),
);

const anyWord = new RegExp(spelledLevels.join('|'));

/** Names such as `trace.id`, with their quotes, that contain a level word but decide no level. */
function harmlessNames(names: readonly string[]): readonly string[] {
  const quoted = names.map((name) => lowerText(JSON.stringify(name)));
  return quoted.filter((name) => anyWord.test(name) && levelOfWords(name) === undefined);
}

/**
 * Writes the lines as `_msg`: `rebuildLine` in the backend. `fields` puts columns in this order, and `pack_json` leaves out empty ones; unlike
 * JSON.stringify it escapes `<` and `'`.
 * @param others columns to keep
 * @param clashing names of fields that are part of a line only where its stream lacks them
 */
function rebuildLines(
  own: readonly string[],
  others: readonly string[],
  clashing: readonly string[],
): readonly LogsqlPipe[] {
  const names = [...own].sort();
  const pack: PackPipe = { kind: 'pack_json', fields: names.map(fieldName), as: '_msg' };
  const unescape = (old: string, replacement: string): ReplacePipe => ({
    ...{ kind: 'replace', old, replacement, at: '_msg' },
  });
  return [
    fields(...new Set([...names, '_time', '_stream', ...others])),
    ...copyAll(clashing, (name) => [name, storedColumn(name)]),
    ...clashing.map((name) => formatInto(name, '', streamMatch(matcher(name, '!=', '')))),
    ...copyAll(clashing, (name) => [name, ownColumn(name)]),
    pack,
    ...copyAll(clashing, (name) => [storedColumn(name), name]),
    unescape(String.raw`\u003c`, '<'),
    unescape(String.raw`\u0027`, "'"),
    formatInto('_msg', '', exact('_msg', '{}')),
  ];
}

function copyAll(
  names: readonly string[],
  pairOf: (name: string) => readonly [from: string, to: string],
): readonly LogsqlPipe[] {
  return names.length === 0 ? [] : [copy(names.map(pairOf))];
}

/** Matches lines in which a backslash of a value stood before a text that looks like one of these escapes. */
const isAmbiguous = or(substring('_msg', String.raw`\<`), substring('_msg', String.raw`\'`));
