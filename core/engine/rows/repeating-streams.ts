import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter, StreamMatcher } from '../../victoria/logsql/ast.js';
import {
  and,
  freeName,
  matcher,
  or,
  query,
  regexp,
  stats,
  statsFunction,
  streamList,
} from '../../victoria/logsql/build.js';
import { printFilter } from '../../victoria/logsql/print.js';
import type { RowReader } from '../../victoria/names/row-reader.js';
import { type BackendValue, columnOf, isOwnColumn } from '../../victoria/upstream/types.js';
import type { Backend } from '../backend.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import type { Naming } from '../../victoria/names/naming.js';
import { mayBeFilledIn } from '../../victoria/names/otlp-fill.js';
import { longDecimalPattern, rewrittenPattern } from '../../victoria/names/shown-value.js';
import type { StreamIdentity } from '../../victoria/names/stream-identity.js';

export interface ComparedRows extends Backend {
  readonly range: TimeRange;
  readonly filter: LogsqlFilter;
}

/** Streams in which rows share a time. */
export interface SharedTimes {
  /** Their `_stream` texts. */
  readonly streams: ReadonlySet<string>;
  /** Matches the rows to compare; all rows of the streams unless given. */
  readonly where?: LogsqlFilter | undefined;
  /** True if rows of two of these streams may be the same entry. */
  readonly areOne?: boolean;
}

/** Streams in which rows may be the same entry. */
export interface RepeatingStreams {
  readonly streams: ReadonlySet<string>;
  /** Number of rows that equal another one in time, line and `fields`, by stream. */
  readonly surplus: ReadonlyMap<string, number>;
  /** Matches the compared rows of these streams, and possibly others. */
  readonly filter: LogsqlFilter;
  /** Fields in which rows of the same entry have equal values, besides time and line. */
  readonly fields: readonly string[];
  /**
   * All stored fields, if rows are the same entry exactly if they have the same time, stream, line and values in these fields; otherwise
   * undefined.
   */
  readonly exactFields: readonly string[] | undefined;
}

/**
 * Lets the backend find the streams in which entries were pushed more than once. It compares time and line first, and structured metadata
 * only in streams where these repeat. It never misses such a stream, but may return one without repeats: fields with inexact rows, and
 * fields that do not fit into a query, are not compared.
 */
export async function repeatingStreams(
  compared: ComparedRows,
  { streams, where, areOne = false }: SharedTimes,
): Promise<RepeatingStreams | undefined> {
  if (streams.size === 0) return undefined;
  const { reader, naming, upstream, range } = compared;
  const by = areOne ? [] : ['_stream'];
  const rowsIn = (some: ReadonlySet<string>): LogsqlFilter =>
    and(compared.filter, where ?? streamsFilter(some, reader));
  const sameLines = await compareRows({ ...compared, filter: rowsIn(streams) }, by, []);
  if (sameLines.repeating.size === 0) return undefined;
  const those = areOne ? streams : keysOf(sameLines);
  const within = { ...compared, filter: rowsIn(those) };
  const listed = await upstream.list({ listing: 'field_names', query: query(within.filter), range });
  const identities = [...those].map((text) => reader.stream(text));
  const stored = storedColumns(listed, identities);
  const columns = fitting(identityColumns(listed, identities, naming), within.filter);
  const all = listed.map(({ value }) => value).filter((field) => !isOwnColumn(field));
  const areAll = columns.length === stored.length && all.join().length <= maxFieldsLength;
  const exactFields = areAll ? all : undefined;
  if (columns.length === 0) {
    const { repeating: surplus } = sameLines;
    return { streams: those, surplus, filter: within.filter, fields: [], exactFields };
  }
  let found = await compareRows(within, by, columns);
  if (found.exact.length < columns.length) found = await compareRows(within, by, found.exact);
  if (found.repeating.size === 0) return undefined;
  const repeating = areOne ? streams : keysOf(found);
  return {
    streams: repeating,
    surplus: found.repeating,
    filter: rowsIn(repeating),
    fields: found.exact.map(({ field }) => field),
    exactFields: found.exact.length === columns.length ? exactFields : undefined,
  };
}

interface Comparison {
  /** Number of rows with the same time, line and values in all columns as another one, for the streams with such rows. */
  readonly repeating: ReadonlyMap<string, number>;
  /** The columns in which all rows can be compared. */
  readonly exact: readonly IdentityColumn[];
}

function keysOf({ repeating }: Comparison): ReadonlySet<string> {
  return new Set(repeating.keys());
}

async function compareRows(
  { upstream, range, filter }: ComparedRows,
  by: readonly string[],
  columns: readonly IdentityColumn[],
): Promise<Comparison> {
  const fields = columns.map(({ field }) => field);
  const named = (name: string): string => freeName(name, fields);
  const conditions = columns.map((column, index) => ({
    column,
    condition: column.inexact,
    name: named(`inexact${index}`),
  }));
  // Counting by hash may find too few distinct rows, which only costs a search, but never too many.
  const counting = stats(
    by,
    statsFunction('count', [], named('rows')),
    statsFunction('count_uniq_hash', ['_time', '_msg', ...fields], named('different')),
    ...conditions.map(({ condition, name }) => ({ ...statsFunction('count', [], name), condition })),
  );
  const repeating = new Map<string, number>();
  const inexact = new Set<IdentityColumn>();
  for await (const batch of upstream.rows({ query: query(filter, [counting]), range }))
    for (const row of batch) {
      const surplus = Number(columnOf(row, named('rows'))) - Number(columnOf(row, named('different')));
      if (surplus !== 0) repeating.set(row._stream ?? '{}', surplus);
      for (const { column, name } of conditions)
        if (Number(columnOf(row, name) ?? 0) > 0) inexact.add(column);
    }
  return { repeating, exact: columns.filter((column) => !inexact.has(column)) };
}

/** Maximum length of a query; the backend accepts 16 KiB. */
const maxQueryBytes = 15_000;
/** Maximum length of a list of fields, which leaves room for the rest of a query. */
const maxFieldsLength = 4000;
/** Length of a column's condition, besides its name, which occurs twice. */
const columnBytes = 90;

/** The first of the columns that fit into a query with this filter. */
function fitting(columns: readonly IdentityColumn[], filter: LogsqlFilter): readonly IdentityColumn[] {
  let left = maxQueryBytes - Buffer.byteLength(printFilter(filter));
  const end = columns.findIndex(({ field }) => (left -= 2 * Buffer.byteLength(field) + columnBytes) < 0);
  return end < 0 ? columns : columns.slice(0, end);
}

/** Maximum number of streams that a filter names; with more, all streams are included. */
export const maxNamedStreams = 50;
const maxFilterBytes = 10_000;

/** Matches all rows of these streams, and possibly more. */
export function streamsFilter(texts: ReadonlySet<string>, reader: Pick<RowReader, 'stream'>): LogsqlFilter {
  if (texts.size > maxNamedStreams) return and();
  const groups = [...texts].map((text): readonly StreamMatcher[] =>
    [...reader.stream(text).fields].map(([name, value]) => matcher(name, '=', value)),
  );
  if (groups.some(({ length }) => length === 0)) return and();
  const filter = streamList(groups);
  return Buffer.byteLength(printFilter(filter)) > maxFilterBytes ? and() : filter;
}

/** The stored fields in which rows of one stream may differ, most frequent first. */
function storedColumns(
  listed: readonly BackendValue[],
  streams: readonly StreamIdentity[],
): readonly string[] {
  return [...listed]
    .sort((a, b) => b.hits - a.hits)
    .map(({ value }) => value)
    .filter((field) => !isOwnColumn(field) && !streams.every(({ fields }) => fields.has(field)));
}

/** A stored field by which the backend can distinguish entries. */
interface IdentityColumn {
  readonly field: string;
  /**
   * Matches rows whose value may be shown, or grouped, differently from how it is stored: two rows of the same entry may then have
   * different values.
   */
  readonly inexact: LogsqlFilter;
}

const ids: ReadonlySet<string> = new Set(['trace_id', 'span_id']);
const onlyZeros = '^0+$';

/**
 * The fields by which the backend can distinguish entries. Rows of the same entry (see identityOf) have equal values in each field without
 * inexact rows. Two entries may still have equal values in all of them: fields that are shown under other names or values are left out.
 */
export function identityColumns(
  listed: readonly BackendValue[],
  streams: readonly StreamIdentity[],
  naming: Naming,
): readonly IdentityColumn[] {
  const hasOtlp = streams.some(({ looksLikeOtlp }) => looksLikeOtlp);
  const uses = new Map<string, number>();
  const shownNames = (field: string): ReadonlySet<string> =>
    new Set((hasOtlp ? [false, true] : [false]).flatMap((isOtlp) => naming.metadataNames(field, isOtlp)));
  for (const { value } of listed)
    for (const name of shownNames(value)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const labels = new Set<string>();
  for (const { labelFields } of streams) for (const field of labelFields.keys()) labels.add(field);
  const isShownAsStored = (field: string): boolean => {
    const isFilledIn = hasOtlp && mayBeFilledIn(field) && !ids.has(field);
    if (labels.has(field) || isFilledIn) return false;
    return [...shownNames(field)].every((name) => uses.get(name) === 1 && name !== detectedLevelName);
  };
  return storedColumns(listed, streams)
    .filter(isShownAsStored)
    .map((field) => {
      const isChanged = regexp(field, `${longDecimalPattern}|${rewrittenPattern}`);
      return {
        field,
        inexact: hasOtlp && ids.has(field) ? or(isChanged, regexp(field, onlyZeros)) : isChanged,
      };
    });
}
