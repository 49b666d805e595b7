import { decidingErrorLabels } from '../../../logql/pipeline/types.js';
import { oncePerObject } from '../../../base/memory/account.js';
import { eachStep, type Steps } from '../../../base/pace/steps.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import {
  and,
  everything,
  exact,
  extract,
  formatInto,
  freeName,
  isSet,
  literalText,
  matcher,
  or,
  regexp,
  streamMatch,
} from '../../../victoria/logsql/build.js';
import { unquote } from '../../../victoria/logsql/unquote.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import { levelNames } from '../../../victoria/names/level-words.js';
import { filledInWithoutSeverity } from '../../../victoria/names/otlp-fill.js';
import { rewrittenPattern } from '../../../victoria/names/shown-value.js';
import type { Naming } from '../../../victoria/names/naming.js';
import { serviceDiscoveryLabels, serviceNameLabel } from '../../../victoria/names/service-name.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { plainName } from '../../plan/columns.js';
import type { LeafPush } from '../../plan/types.js';
import type { SelectionProfile } from './profile.js';
import { mayHaveOtlp, type StreamListing } from './stream-listing.js';
import type { Get } from './line-digests.js';

type Streams = StreamListing['streams'];

const severityNumber = 'severity_number';
const levelMetadata: ReadonlySet<string> = new Set([...levelNames, severityNumber, detectedLevelName]);

/** The fields that, together with the stream, determine these labels of a row. */
export interface LabelSourceFields {
  readonly all: readonly string[];
  /** The level fields among them, by Loki's list of names. If one of them has a value, the line is not searched for a level. */
  readonly levels: readonly string[];
  /** `mayHaveOtlp` of the streams. */
  readonly hasOtlp: boolean;
}

/** For queries whose labels depend on the stream alone. */
export const noFields: LabelSourceFields = { all: [], levels: [], hasOtlp: false };

/** Finds these fields; a label that all streams have needs no field. */
export function labelSourceFields(
  names: ReadonlySet<string> | 'all',
  listing: StreamListing,
  naming: Naming,
): LabelSourceFields {
  const identities = [...listing.streams.values()];
  const hasOtlp = mayHaveOtlp(listing);
  const isSeen = seenFields(names, identities, naming);
  const wantsLevel = hasName(names, detectedLevelName) && identities.some(({ level }) => level === undefined);
  const all = new Set<string>();
  const levels = new Set<string>();
  for (const field of listing.fields) {
    for (const fromOtlp of hasOtlp ? [false, true] : [false]) {
      if (isSeen(field, fromOtlp)) all.add(field);
      const sanitized = naming.sanitized(field, fromOtlp);
      if (!wantsLevel || !levelMetadata.has(sanitized)) continue;
      all.add(field);
      if (sanitized !== severityNumber && sanitized !== detectedLevelName) levels.add(field);
    }
  }
  if (all.size > 0 && hasOtlp) all.add(severityNumber);
  return { all: [...all], levels: [...levels], hasOtlp };
}

/** The fields that do not decide a level or the names of other fields. */
export function fieldsBesideLevels({ all, levels }: LabelSourceFields): readonly string[] {
  return all.filter((field) => field !== severityNumber && !levels.includes(field));
}

/** Replaces the severity number by one value where nothing but its presence matters, which shows that a row came through OTLP. */
export function severityByPresence(
  names: ReadonlySet<string> | 'all',
  { all }: LabelSourceFields,
): readonly LogsqlPipe[] {
  const readers = [severityNumber, `${severityNumber}_extracted`, detectedLevelName];
  const isValueSeen = all.includes('severity_text') || readers.some((name) => hasName(names, name));
  if (isValueSeen || !all.includes(severityNumber)) return [];
  return [formatInto(severityNumber, '1', isSet(severityNumber))];
}

export function hasName(names: ReadonlySet<string> | 'all', name: string): boolean {
  return names === 'all' || names.has(name);
}

/** True if a stored field can appear as one of these labels. */
function seenFields(
  names: ReadonlySet<string> | 'all',
  streams: readonly StreamIdentity[],
  naming: Naming,
): (field: string, fromOtlp: boolean) => boolean {
  if (names === 'all') return (field) => !streams.every(({ fields }) => fields.has(field));
  const seen = [...names, ...decidingErrorLabels];
  const open = new Set(seen.filter((name) => !streams.every(({ labelNames }) => labelNames.has(name))));
  return (field, fromOtlp) =>
    naming.metadataNames(field, fromOtlp).some((name) => open.has(name) || names.has(`${name}_extracted`));
}

/** The columns by which the backend groups rows, such that all rows of a group have the same relevant labels. */
export interface RowGrouping {
  /** Makes the columns that are not stored. */
  readonly pipes: readonly LogsqlPipe[];
  /** Replaces values of columns of which only outcomes matter (`fieldsByOutcome`); to be run after all other pipes. */
  readonly outcomes?: readonly LogsqlPipe[];
  readonly columns: readonly string[];
  /** Stream fields among the columns that stand for whole streams: valid only if rows have their stream's values in these fields. */
  readonly streamKeyColumns: readonly string[];
  /** Lower bound of the number of groups, ignoring fields of rows. */
  readonly size: number;
  /** Maps the values of the key columns to the `_stream` text of a stream; undefined if `_stream` is itself a column. */
  readonly texts: ReadonlyMap<string, string> | undefined;
}

/** The `_stream` text of a stream with a group's labels; undefined if there is none. */
export function streamOf(
  { streamKeyColumns, texts }: Pick<RowGrouping, 'streamKeyColumns' | 'texts'>,
  get: Get,
): string | undefined {
  if (texts === undefined) return get('_stream') ?? '{}';
  return texts.get(JSON.stringify(streamKeyColumns.map((name) => get(name) ?? '')));
}

/** Number of streams handled per step. */
const stepStreams = 200;

/** Groups by whole stream, which always determines the stream's labels. */
export function groupByStream({ streams }: StreamListing, sources: LabelSourceFields): RowGrouping {
  return {
    pipes: [],
    columns: ['_stream', ...sources.all],
    streamKeyColumns: [],
    size: streams.size,
    texts: undefined,
  };
}

/** Groupings of the streams of a listing, by the labels and fields they are for; together they have at most one group per stream. */
const groupingsOf = oncePerObject<Streams, Map<string, RowGrouping>>(() => new Map());

/**
 * Groups by the stream fields that make these labels, and one more if these do not determine the labels of every stream: far fewer groups
 * than streams. Falls back to whole streams if that is not enough either.
 */
export function* groupByLabels(
  names: ReadonlySet<string> | 'all',
  streamListing: StreamListing,
  sources: LabelSourceFields,
  naming: Naming,
): Steps<RowGrouping> {
  if (names === 'all') return groupByStream(streamListing, sources);
  const { streams } = streamListing;
  const key = JSON.stringify([[...names], sources.all]);
  const known = groupingsOf(streams);
  const before = known.get(key);
  if (before !== undefined) return before;
  const grouping = yield* makeGrouping(names, streamListing, sources, naming);
  const groups = [...known.values()].reduce((sum, { size }) => sum + size, grouping.size);
  if (groups > streams.size) known.clear();
  known.set(key, grouping);
  return grouping;
}

function* makeGrouping(
  names: ReadonlySet<string>,
  streamListing: StreamListing,
  sources: LabelSourceFields,
  naming: Naming,
): Steps<RowGrouping> {
  const { streams } = streamListing;
  const labels = new Set([...names].flatMap(labelsBehind));
  const serviceFields = new Set(names.has(serviceNameLabel) ? naming.serviceFields() : []);
  const candidates = new Set(sources.all);
  const stored = new Set<string>();
  yield* eachStep(streams.values(), ({ fields, labelFields }) => {
    for (const name of fields.keys())
      if (candidates.has(name) || serviceFields.has(name) || labels.has(labelFields.get(name) ?? ''))
        stored.add(name);
  });
  const wanted = [...new Set([...names].flatMap((name) => [name, plainName(name)]))];
  const matters = {
    level: names.has(detectedLevelName),
    exporter: sources.hasOtlp && sources.all.length > 0,
  };
  const shown = new Map<StreamIdentity, string>();
  yield* eachStep(streams.values(), (stream) => shown.set(stream, shownOf(stream, wanted, matters)));
  const texts =
    (yield* textsByKey([...stored], streams, shown)) ?? (yield* textsByOneMore(stored, streams, shown));
  if (texts === undefined) return groupByStream(streamListing, sources);
  const streamKeyColumns = [...stored];
  return {
    pipes: [],
    columns: [...new Set([...streamKeyColumns, ...sources.all])],
    streamKeyColumns,
    size: texts.size,
    texts,
  };
}

/** The `_stream` texts by key (`RowGrouping.texts`); undefined if streams with the same key are visible differently. */
function* textsByKey(
  streamKeyColumns: readonly string[],
  streams: Streams,
  shown: ReadonlyMap<StreamIdentity, string>,
): Steps<ReadonlyMap<string, string> | undefined> {
  const texts = new Map<string, string>();
  const shownBy = new Map<string, string | undefined>();
  let seenStreams = 0;
  for (const [text, stream] of streams) {
    seenStreams += 1;
    if (seenStreams % stepStreams === 0) yield;
    const key = JSON.stringify(streamKeyColumns.map((name) => stream.fields.get(name) ?? ''));
    if (!texts.has(key)) {
      texts.set(key, text);
      shownBy.set(key, shown.get(stream));
    } else if (shownBy.get(key) !== shown.get(stream)) return undefined;
  }
  return texts;
}

/** Maximum number of fields that are tried in addition to those that make the labels. */
const maxTriedFields = 20;

/** Adds the one field to these columns that leaves the fewest keys; undefined if no field is enough. */
function* textsByOneMore(
  stored: Set<string>,
  streams: Streams,
  shown: ReadonlyMap<StreamIdentity, string>,
): Steps<ReadonlyMap<string, string> | undefined> {
  const others = new Set<string>();
  for (const { fields } of streams.values())
    for (const name of fields.keys()) if (!stored.has(name) && others.size < maxTriedFields) others.add(name);
  let best: { readonly name: string; readonly texts: ReadonlyMap<string, string> } | undefined;
  for (const name of others) {
    const texts = yield* textsByKey([...stored, name], streams, shown);
    if (texts !== undefined && texts.size < (best?.texts.size ?? streams.size)) best = { name, texts };
  }
  if (best !== undefined) stored.add(best.name);
  return best?.texts;
}

/** The labels that contribute to a name: the label itself, its level, or the labels it is derived from. */
function labelsBehind(name: string): readonly string[] {
  if (name === detectedLevelName) return [...levelNames, detectedLevelName];
  return name === serviceNameLabel ? [name, ...serviceDiscoveryLabels] : [name, plainName(name)];
}

/**
 * Everything of a stream that is visible through these labels, except fields that Loki keeps as metadata: those are columns if they matter.
 * @param matters says whether the stream's level does, and its exporter, which decides the names of fields
 */
function shownOf(
  { labels, level, looksLikeOtlp }: StreamIdentity,
  names: readonly string[],
  matters: { readonly level: boolean; readonly exporter: boolean },
): string {
  return JSON.stringify([
    names.map((name) => labels.get(name)),
    matters.level ? (level ?? null) : null,
    matters.exporter && looksLikeOtlp,
  ]);
}

/**
 * Groups rows by labels of their streams. If rows may override the values of the key columns, these are read from `_stream`; if no pattern
 * finds them in the text of every stream, rows are grouped by whole stream.
 */
export function* groupAroundOverrides(
  byLabels: RowGrouping,
  { hasOverrides }: Pick<SelectionProfile, 'hasOverrides'>,
  streamListing: StreamListing,
  sources: LabelSourceFields,
): Steps<RowGrouping> {
  if (!hasOverrides || byLabels.texts === undefined) return byLabels;
  const pipes: LogsqlPipe[] = [];
  const columns: string[] = [];
  for (const [index, name] of byLabels.streamKeyColumns.entries()) {
    const start = yield* startOfValue(name, streamListing);
    if (start === undefined) return { ...byLabels, ...groupByStream(streamListing, sources) };
    const column = freeName(`__stream__${index}`, sources.all);
    columns.push(column);
    pipes.push(extract('_stream', `${literalText(start)}<${column}>`));
  }
  return { ...byLabels, pipes, columns: [...columns, ...sources.all], streamKeyColumns: columns };
}

/** The text before the value of a field, if it occurs first before that value in each `_stream` that has the field, and in no other. */
function* startOfValue(name: string, { streams }: StreamListing): Steps<string | undefined> {
  let seenStreams = 0;
  for (const start of [`,${name}=`, `{${name}=`, `${name}=`]) {
    let isFound = true;
    for (const [text, { fields }] of streams) {
      seenStreams += 1;
      if (seenStreams % stepStreams === 0) yield;
      const at = text.indexOf(start);
      const value = at < 0 ? '' : unquote(text, at + start.length)?.text;
      isFound = value === (fields.get(name) ?? '');
      if (!isFound) break;
    }
    if (isFound) return start;
  }
  return undefined;
}

/** True if the grouping for the expected profile is also right for the current one. */
export function isGroupingValid(
  { hasOverrides: now }: Pick<SelectionProfile, 'hasOverrides'>,
  { hasOverrides: expected }: Pick<SelectionProfile, 'hasOverrides'>,
): boolean {
  return expected || !now;
}

const levelLabels: ReadonlySet<string> = new Set(levelNames);

/** True if the query depends on a level found in a line. */
export function readsLevels(
  { names, looksAtLines }: Pick<LeafPush, 'names' | 'looksAtLines'>,
  naming: Naming,
): boolean {
  return looksAtLines && hasName(names, detectedLevelName) && naming.scansBodies;
}

/** The `_stream` texts of streams without a level. */
export const streamsWithoutLevel = oncePerObject((streams: Streams): readonly string[] =>
  [...streams].filter(([, { level }]) => level === undefined).map(([text]) => text),
);

/** Rows whose level may be in their line. */
export interface UndecidedRows {
  /** Rows of streams without a level. */
  readonly selection: LogsqlFilter;
  /** Matches rows whose label no stored field decides, and other rows that must be read. */
  readonly filter: LogsqlFilter;
  /** Fields that are empty in all of these rows. */
  readonly emptyFields: ReadonlySet<string>;
  /** True if no field of a row decides a level. */
  readonly areAll: boolean;
}

/** Matches the rows of these streams. */
export const rowsWithoutLevel = oncePerObject((streams: Streams): LogsqlFilter => {
  const fields = new Set<string>();
  for (const { labelFields } of streams.values())
    for (const [field, label] of labelFields) if (levelLabels.has(label)) fields.add(field);
  return fields.size === 0 ? everything : streamMatch(...[...fields].map((name) => matcher(name, '=', '')));
});

export function undecidedRows({ streams }: StreamListing, sources: LabelSourceFields): UndecidedRows {
  const selection = rowsWithoutLevel(streams);
  const undeciding = undecidingValues(streams, sources);
  const isEmpty = ([, values]: readonly [string, readonly string[]]): boolean =>
    values.every((text) => text === '');
  return {
    selection,
    filter: and(
      selection,
      ...undeciding.map(([name, values]) => or(...values.map((text) => exact(name, text)))),
    ),
    emptyFields: new Set(undeciding.filter(isEmpty).map(([name]) => name)),
    areAll: undeciding.length === 0,
  };
}

const isSeverityLabel = oncePerObject((streams: Streams) =>
  [...streams.values()].some(({ labelFields }) => labelFields.has(severityNumber)),
);

/** The level fields, each with the values that decide no level: none, or one that VictoriaLogs may have filled in. */
function undecidingValues(
  streams: Streams,
  { all, levels, hasOtlp }: LabelSourceFields,
): readonly (readonly [field: string, values: readonly string[]])[] {
  if (!hasOtlp) return levels.map((name) => [name, ['']]);
  // The label `severity_number` gives a row no level, but VictoriaLogs still derives the severity text from it.
  if (isSeverityLabel(streams)) return [];
  const numbers = all.includes(severityNumber) ? [severityNumber] : [];
  return [...levels, ...numbers].map((name) => {
    const filledIn = filledInWithoutSeverity(name);
    return [name, filledIn === undefined ? [''] : ['', filledIn]];
  });
}

/** Matches rows with values such as 1_000 in one of these fields, which the backend groups as 1000; undefined for an empty list. */
export function rewrittenRows(fields: readonly string[]): LogsqlFilter | undefined {
  return fields.length === 0 ? undefined : or(...fields.map((name) => regexp(name, rewrittenPattern)));
}
