/** Counts rows without a line by the lines that the backend rebuilds from their fields, where the fields alone do not show what is asked. */
import type { LogsqlFilter, LogsqlPipe, PackPipe, ReplacePipe } from '../../../victoria/logsql/ast.js';
import {
  and,
  exact,
  fieldName,
  fields,
  formatInto,
  matcher,
  not,
  or,
  present,
  streamMatch,
  substring,
  where,
} from '../../../victoria/logsql/build.js';
import { printFilter, printPipe } from '../../../victoria/logsql/print.js';
import { detectedLevelName, unknownLevel } from '../../../victoria/names/level.js';
import { lowerText } from '../../../victoria/logsql/eval/words.js';
import { levelOfWords, normalLevel, spelledLevels } from '../../../victoria/names/level-words.js';
import { rebuildLine } from '../../../victoria/names/missing-line.js';
import { exactLines } from '../../plan/logs.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { countByDigest, type CountRequest, type RowGroup } from './counting.js';
import { hasName, type RowGrouping } from './grouping.js';
import { levelColumns, levelWordPipes } from './level-conditions.js';
import type { Get, LineDigest } from './line-digests.js';
import { filler, rebuiltFields, type RebuiltFields } from './rebuilt-rows.js';
import type { StatisticsInput } from './statistics-input.js';
import type { StreamListing } from './stream-listing.js';

/** Rows without a line to count. */
export interface RebuiltRequest extends Omit<CountRequest, 'rows'> {
  /** Matches the rows, all of which have no line. */
  readonly filter: LogsqlFilter;
  /** Matches the lines to count, as `_msg`, exactly. */
  readonly lines: LogsqlFilter;
  /** The grouping of rows with a line. */
  readonly grouping: RowGrouping;
  /** The fields whose values matter. */
  readonly rebuilt: RebuiltFields;
  readonly listing: StreamListing;
  readonly readsLevels: boolean;
}

export interface RebuiltCount {
  /** Groups whose representative lines are those of rows with a stored line. */
  readonly groups: readonly RowGroup[];
  /** Matches those of the rows that must be read; undefined if there are none. */
  readonly strange: LogsqlFilter | undefined;
}

/**
 * The request for the rows without a line of a count; undefined if their lines must be read.
 * @param asked the count of these rows
 */
export function rebuiltRequest(
  { plan, lines, streamListing: listing, grouping }: StatisticsInput,
  asked: CountRequest,
  readsLevels: boolean,
): RebuiltRequest | undefined {
  const { fields: ofFields, push, logs } = plan;
  // A level that lines do not decide is one of fields.
  const isLevelOfFields = hasName(push.names, detectedLevelName) && !readsLevels;
  if ((ofFields === undefined && lines !== undefined) || isLevelOfFields) return undefined;
  // Labels that are all visible are those of the stream, and the level.
  const names = push.names === 'all' ? new Set([detectedLevelName]) : push.names;
  const { readsJson = false } = ofFields ?? {};
  const rebuilt = rebuiltFields({ names: ofFields?.names ?? names, readsJson }, listing);
  const filter = and(logs.filter, ...asked.rows.map((rows) => rows.filter));
  return { ...asked, filter, grouping, listing, rebuilt, readsLevels, lines: exactLines(logs.recheck) };
}

/** Maximum size of the filter and the pipes that rebuild lines: the backend limits queries to 16384 bytes. */
const maxQueryBytes = 14_000;

/** Declines if lines have too many fields, or texts that the backend writes ambiguously. */
export async function countRebuiltLines(request: RebuiltRequest): Promise<RebuiltCount | Declined> {
  const { filter, listing, grouping: whole } = request;
  const ofStreams = new Set<string>();
  for (const stream of listing.streams.values()) for (const name of stream.fields.keys()) ofStreams.add(name);
  const strange = strangeRows(ofStreams, listing);
  // Fields of rows without a line are not metadata, so streams alone decide the group.
  const columns = whole.texts === undefined ? ['_stream'] : whole.streamKeyColumns;
  const grouping = { ...whole, columns };
  const digest = rebuiltDigest(request, ofStreams, columns);
  if (isDeclined(digest)) return digest;
  const counting = strange === undefined ? filter : and(filter, not(strange));
  const printed = [printFilter(counting), ...digest.pipes.map(printPipe)].join(' | ');
  if (Buffer.byteLength(printed) > maxQueryBytes) return decline('too-many-shapes');
  const rows = [{ filter: counting, grouping }];
  const counted = await countByDigest({ ...request, rows, digest });
  if (isDeclined(counted)) return counted;
  if (counted.undecided !== undefined) return decline('too-many-shapes');
  return { groups: counted.groups, strange };
}

/** Rows with a field of their own that other streams have as a stream field; undefined if there cannot be such rows. */
function strangeRows(ofStreams: ReadonlySet<string>, { streams }: StreamListing): LogsqlFilter | undefined {
  const inSome = [...ofStreams].filter((name) =>
    [...streams.values()].some((stream) => !stream.fields.has(name)),
  );
  if (inSome.length === 0) return undefined;
  return or(...inSome.map((name) => and(streamMatch(matcher(name, '=', '')), present(name))));
}

// Unlikely as the names of a client's fields, which would only be overwritten during counting.
const columnNames = { isEmpty: '__rebuilt_empty', isOdd: '__rebuilt_odd' } as const;
const marked = 'x';

function rebuiltDigest(
  { lines, rebuilt, listing, readsLevels }: RebuiltRequest,
  ofStreams: ReadonlySet<string>,
  columns: readonly string[],
): LineDigest | Declined {
  const { isEmpty, isOdd } = columnNames;
  const { level: word } = levelColumns;
  const own = listing.fields.filter((name) => !ofStreams.has(name));
  // A name that ends with an asterisk would be a prefix.
  if (own.length === 0 || own.some((name) => name.includes('*'))) return decline('missing-lines');
  const pipes = [
    ...rebuildLines(own, [...columns, ...ofStreams]),
    ...(lines.kind === 'all' ? [] : [where(lines)]),
    ...(readsLevels ? levelWordPipes(contexts, { harmless: harmlessNames(own) }) : []),
    formatInto(isEmpty, marked, exact('_msg', '')),
    formatInto(isOdd, marked, isAmbiguous),
  ];
  const shown = rebuilt.all.filter((name) => !ofStreams.has(name));
  const levelFields = rebuilt.levels.filter((name) => !ofStreams.has(name));
  const levelOf = (get: Get): string => {
    const first = levelFields.map((name) => get(name) ?? '').find((value) => value !== '');
    return normalLevel(first ?? '') ?? normalLevel(get(word) ?? '') ?? unknownLevel;
  };
  return {
    pipes,
    columns: [...shown, ...(readsLevels ? [word] : []), isEmpty, isOdd],
    representativeOf(get) {
      if (get(isOdd) === marked) return undefined;
      if (get(isEmpty) === marked) return { line: '' };
      const pairs = shown.map((name): [string, string] => [name, get(name) ?? '']);
      const line = rebuildLine([...pairs.filter(([, value]) => value !== ''), filler]);
      return readsLevels ? { line, level: levelOf(get) } : { line };
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
 */
function rebuildLines(own: readonly string[], others: readonly string[]): readonly LogsqlPipe[] {
  const names = [...own].sort();
  const pack: PackPipe = { kind: 'pack_json', fields: names.map(fieldName), as: '_msg' };
  const unescape = (old: string, replacement: string): ReplacePipe => ({
    ...{ kind: 'replace', old, replacement, at: '_msg' },
  });
  return [
    fields(...new Set([...names, '_time', '_stream', ...others])),
    pack,
    unescape(String.raw`\u003c`, '<'),
    unescape(String.raw`\u0027`, "'"),
    formatInto('_msg', '', exact('_msg', '{}')),
  ];
}

/** Matches lines in which a backslash of a value stood before a text that looks like one of these escapes. */
const isAmbiguous = or(substring('_msg', String.raw`\<`), substring('_msg', String.raw`\'`));
