import { apiError } from '../../base/errors/table.js';
import { atPace, Pacer } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import { LinePacer, sampleEvaluator } from '../../logql/lines/evaluator.js';
import {
  addEntries,
  EntryCounter,
  unpackTable,
  RangeWindows,
  type LeafEngine,
  type LeafRequest,
  type SeriesTable,
} from '../../logql/metric/index.js';
import type { PipelineEntry } from '../../logql/pipeline/types.js';
import type { FieldRef, LogsqlFilter, LogsqlPipe } from '../../victoria/logsql/ast.js';
import { fieldName, formatInto, query } from '../../victoria/logsql/build.js';
import { type BackendRow, type RowsRequest, type Upstream } from '../../victoria/upstream/types.js';
import { missingLineRows, rebuiltMark } from '../plan/missing-lines.js';
import type { LeafPlan } from '../plan/types.js';
import { countRows } from '../rows/count-by-time.js';
import type { Attempt, Candidate, LeafContext, ReadStrategy } from './context.js';
import { duplicateRows } from './count/duplicates.js';
import { labelSourceFields, groupByLabels } from './count/grouping.js';
import { labelsOf, openNames, shorteningQuestion } from './count/labels/questions.js';
import { cheapestDigest } from './count/line-digests.js';
import { obstacleIn, type SelectionProfile } from './count/profile.js';
import {
  listSelection,
  rowsWithoutFields,
  streamsWithSameEntries,
  type StreamListing,
} from './count/stream-listing.js';
import { callRows, planWindows, rowsOfStreams } from './count/time-segments.js';
import { costOfRows, decline, type Declined, isDeclined, type RowEstimates, rowLimitFor } from './cost.js';
import { placesOf, RowIntake, UnknownStreamError, type RepeatPlaces, type RowStreams } from './row-intake.js';
import type { RowJob } from './threads/row-job.js';

/** Maximum number of rows whose lines are held at once to detect repeats. */
const windowRows = 50_000;

/** From this range on, rows are counted first to detect too many of them, instead of reading up to the limit. */
const countedFromNs = 6n * 3_600_000_000_000n;

/** The rows to read, and their form. */
export interface RowRequest {
  readonly filter: LogsqlFilter;
  /** Matches all rows of `filter`, and is cheap to count. */
  readonly selection: LogsqlFilter;
  /** Pipes that the backend applies to the rows before sending them. */
  readonly pipes?: readonly LogsqlPipe[];
  /** The columns to read; undefined for all, which are also read if rows have to be compared. */
  readonly columns: readonly FieldRef[] | undefined;
  readonly range: TimeRange;
  /** Identifies the stream of a row, if `_stream` is not read. */
  readonly streams?: RowStreams;
  /** Where rows may have been pushed twice; `anywhere` by default. */
  readonly repeats?: RepeatPlaces;
  /** Number of rows of `selection` in the range, if known. */
  readonly selectedRows?: number;
}

/** Dependencies of a read of rows. */
type RowsContext = Pick<
  LeafContext,
  'upstream' | 'reader' | 'maxRows' | 'counts' | 'memory' | 'repeatedRows'
>;

/** Reads rows, each entry once. All parts of a long range use one permit for heavy queries. */
export async function* readEntries(
  asked: RowRequest,
  { upstream, reader, maxRows, counts, memory, ...context }: RowsContext,
): AsyncGenerator<readonly PipelineEntry[]> {
  const request = byRule(asked, context);
  const { repeats = 'anywhere', streams } = request;
  const intake = new RowIntake({ reader, counts, memory, repeats, streams });
  for await (const call of callsFor(request, upstream, maxRows)) {
    intake.next();
    for await (const batch of upstream.rows(call)) {
      call.read(batch);
      yield intake.take(batch);
    }
  }
}

/** Adds the samples of rows to those of a leaf. */
export async function addRows(
  { engine, checkSeries }: LeafEngine,
  rows: RowRequest,
  { leaf }: LeafRequest,
  context: LeafContext,
): Promise<void> {
  const extract = sampleEvaluator(leaf.range, leaf.pushed, context);
  const pacer = new LinePacer(context.signal);
  for await (const batch of readEntries(rows, context)) {
    await addEntries(engine, extract, batch, pacer);
    checkSeries();
  }
}

/** Counts the samples of a leaf from rows. Large numbers of rows are counted in a thread, so that other requests are not blocked. */
export async function countRowsOf(
  rows: RowRequest,
  asked: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable> {
  const request = byRule(rows, context);
  const { upstream, maxRows } = context;
  const job = jobFor(request, asked, context);
  if (job === undefined) {
    const counter = new EntryCounter(asked, context.workers);
    for await (const batch of readEntries(request, context)) await counter.add(batch);
    return counter.table();
  }
  try {
    for await (const call of callsFor(request, upstream, maxRows)) {
      const parts =
        upstream.rowsBy?.(call, (admitted) => job.read(admitted)) ?? job.readRows(upstream.rows(call));
      for await (const part of parts) call.read(part);
    }
    return await unpackTable(asked, await job.finish());
  } finally {
    job.close();
  }
}

/** A request without comparison of rows, if the option counts each row as it is stored. */
function byRule(request: RowRequest, { repeatedRows }: Pick<LeafContext, 'repeatedRows'>): RowRequest {
  return repeatedRows === 'stored' ? { ...request, repeats: 'nowhere' } : request;
}

/** Maximum number of streams to identify by columns; more would take too long. */
const maxStreams = 20_000;

function jobFor(
  { pipes = [], columns, repeats = 'anywhere', streams, selectedRows = 0 }: RowRequest,
  { leaf, columns: grid, limits, signal }: LeafRequest,
  { rowThreads, naming, counts }: LeafContext,
): RowJob | undefined {
  if ((streams?.texts?.size ?? 0) > maxStreams) return undefined;
  const { range, pushed, folded, merged, isCapped, isRoot } = leaf;
  const { memory, ...others } = limits;
  return rowThreads?.begin(
    selectedRows,
    {
      leaf: { range, pushed, folded, merged, isCapped, isRoot },
      columns: grid,
      limits: others,
      memory: { limit: memory.limit, held: memory.held },
      naming: naming.settings,
      pipes: pipesOf({ pipes, columns, repeats }),
      repeats,
      streams,
    },
    { signal, memory, counts },
  );
}

/** A call for some of the rows, which is told how many were read. */
interface RowCall extends RowsRequest {
  /** @throws ApiError `metricRows` if more rows are read than allowed */
  read(rows: { readonly length: number }): void;
}

/** The calls for one time window after the other, so that memory use is constant. */
async function* callsFor(request: RowRequest, upstream: Upstream, maxRows: number): AsyncGenerator<RowCall> {
  const { filter, selection, range, repeats = 'anywhere' } = request;
  const mayBeTooMany = maxRows > 0 && (request.selectedRows ?? Infinity) > maxRows;
  if (mayBeTooMany && range.endNs - range.startNs >= countedFromNs) {
    const rows = await countRows(upstream, filter, range);
    if (rows > maxRows) throw apiError('metricRowsCounted', { limit: maxRows, rows });
  }
  const most = repeats === 'anywhere' ? windowRows : callRows;
  const isSmall = request.selectedRows !== undefined && request.selectedRows <= most;
  const windows = isSmall ? [{ range }] : await planWindows(upstream, selection, range, most);
  const asked = query(filter, pipesOf(request));
  let rows = 0;
  const read: RowCall['read'] = ({ length }) => {
    rows += length;
    if (maxRows > 0 && rows > maxRows) throw apiError('metricRows', {});
  };
  for (const window of windows) yield { query: asked, range: window.range, read };
}

type ReadColumns = Pick<RowRequest, 'pipes' | 'columns' | 'repeats'>;

function pipesOf({ pipes = [], columns, repeats = 'anywhere' }: ReadColumns): readonly LogsqlPipe[] {
  return columns === undefined || repeats === 'anywhere'
    ? pipes
    : [...pipes, { kind: 'fields', fields: columns }];
}

/** Reads the entries of a leaf from its rows. */
export async function* plannedEntries(
  plan: PlannedRows,
  range: TimeRange,
  context: LeafContext,
): AsyncGenerator<readonly PipelineEntry[]> {
  yield* profiledEntries(plan, await profileRows(plan, range, context), context);
}

/** Reads the entries of a leaf whose selection has been profiled. */
export async function* profiledEntries(
  plan: PlannedRows,
  profiled: ProfiledRows,
  context: LeafContext,
): AsyncGenerator<readonly PipelineEntry[]> {
  yield* readEntries(await rowRequest(plan, profiled, context), context);
}

type PlannedRows = Pick<LeafPlan, 'logs' | 'selection' | 'columns' | 'seesFieldsOnly'>;

/** The profile of a selection, and its streams. */
export interface ProfiledRows {
  readonly range: TimeRange;
  readonly listing: StreamListing;
  readonly profile: SelectionProfile;
  /** Number of rows to read, if they are not all of the listed ones. */
  readonly selectedRows?: number;
}

async function profileRows(
  { selection }: PlannedRows,
  range: TimeRange,
  context: LeafContext,
): Promise<ProfiledRows> {
  const asked = { ...context, selection, columns: [] };
  const listing = await listSelection(selection, range, context);
  return { range, listing, profile: await context.profiler.of(asked, range, listing) };
}

/** The request for the rows of a leaf, by the profile of its selection. */
async function rowRequest(
  { logs, selection, columns, seesFieldsOnly }: PlannedRows,
  { range, listing, profile, selectedRows = rowsOfStreams(listing.listed) }: ProfiledRows,
  context: LeafContext,
): Promise<RowRequest> {
  const { reader, naming } = context;
  const { filter } = logs;
  const surplus = await duplicateRows({ ...context, filter, range, streams: listing.streams, profile });
  const rows = { filter, selection, range, selectedRows };
  if (profile.missing === 0) return { ...rows, columns, repeats: repeatsOf(surplus, columns) };
  // Lines are rebuilt from all fields.
  const empty = seesFieldsOnly === true ? rowsWithoutFields(listing) : undefined;
  if (columns === undefined || empty === undefined)
    return { ...rows, columns: undefined, repeats: repeatsOf(surplus, undefined) };
  const [name, value] = rebuiltMark;
  const marked = [...columns, fieldName(name)];
  const mark = (row: BackendRow): BackendRow => {
    const { isRebuilt, line } = reader.read(row);
    return isRebuilt && line !== '' ? { ...row, [name]: value } : row;
  };
  return {
    ...rows,
    // In one condition with `or`, VictoriaLogs 1.52 now and then marks no row of a block.
    pipes: [formatInto(name, value, missingLineRows(naming)), formatInto(name, '', empty)],
    columns: marked,
    repeats: repeatsOf(isDeclined(surplus) ? surplus : surplus.map(mark), marked),
  };
}

function repeatsOf(
  surplus: readonly BackendRow[] | Declined,
  columns: readonly FieldRef[] | undefined,
): RepeatPlaces {
  return isDeclined(surplus) ? 'anywhere' : placesOf(surplus, columns);
}

/** Reads rows with lines that the backend has shortened to the relevant labels. */
export const shortLinesStrategy: ReadStrategy = {
  name: 'short-lines',
  summary: 'rows are read, with lines that the backend shortens to the labels that a parser extracts',
  namesFailedEntry: 'no',
  usesBuckets: false,
  estimate({ shortLines, ...leaf }, known) {
    if (shortLines === undefined) return decline('lines-needed');
    if (leaf.hasStreamLabelsOnly === true) return decline('no-parsed-labels');
    return {
      cost: costOfRows(known, { columns: 'shortened lines', heldRows: callRows }),
      read: (request, context) => shortLinesTable({ ...leaf, shortLines }, request, context),
    };
  },
};

type Shortened = Omit<LeafPlan, 'shortLines'> & { readonly shortLines: NonNullable<LeafPlan['shortLines']> };

async function shortLinesTable(
  plan: Shortened,
  request: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable | Declined> {
  const { shortLines } = plan;
  const { leaf, columns } = request;
  const windows = new RangeWindows(columns, leaf.range.range);
  if (windows.buckets === 0) return decline('no-buckets');
  const rows = await shortRows(plan, windows.range, context);
  if (isDeclined(rows)) return rows;
  const stages = { ...leaf.range.range.query, stages: shortLines.stages };
  const short = { ...leaf.range, range: { ...leaf.range.range, query: stages } };
  try {
    return await countRowsOf(rows, { ...request, leaf: { ...leaf, range: short } }, context);
  } catch (error) {
    if (error instanceof UnknownStreamError) return decline('unlisted-stream');
    throw error;
  }
}

async function shortRows(
  { shortLines, logs, selection }: Shortened,
  range: RowRequest['range'],
  context: LeafContext,
): Promise<RowRequest | Declined> {
  const { naming, signal } = context;
  const streamListing = await listSelection(selection, range, context);
  const labels = labelsOf(shortLines.parsed);
  const question = shorteningQuestion(
    labels,
    openNames(shortLines.parsed.names, streamListing, shortLines.names),
  );
  if (isDeclined(question)) return question;
  const pacer = new Pacer(signal);
  const together = await streamsWithSameEntries(streamListing.streams);
  if (together.size > 0) return decline('shared-streams');
  const sources = labelSourceFields(shortLines.names, streamListing, naming);
  const grouping = await atPace(groupByLabels(shortLines.names, streamListing, sources, naming), pacer);
  const selectedRows = rowsOfStreams(streamListing.listed);
  const digest = await context.digests.of(question, { ...context, selection, range, rows: selectedRows });
  if (isDeclined(digest)) return digest;
  const asked = {
    ...{ ...context, selection, columns: grouping.streamKeyColumns },
    misparsedRows: labels.misparsedRows,
    uncertainLines: digest.proven?.uncertainLines,
  };
  const profile = await context.profiler.of(asked, range, streamListing);
  if (profile.surplus?.length !== 0) return decline('repeated-rows');
  if (profile.missing > 0) return decline('missing-lines');
  const obstacle = obstacleIn(profile);
  if (obstacle !== undefined) return obstacle;
  // These names become property names of row objects.
  if (sources.all.includes('__proto__')) return decline('reserved-name');
  return {
    ...{ filter: logs.filter, selection, range, selectedRows, repeats: 'nowhere' },
    pipes: cheapestDigest(digest, profile).pipes,
    columns: ['_time', '_msg', ...grouping.columns].map(fieldName),
    streams: { ...grouping, fields: sources.all },
  };
}

/** Reads rows with only the columns that the query uses. */
export const rowsStrategy: ReadStrategy = {
  name: 'rows',
  summary: 'rows are read with the columns that the query uses',
  namesFailedEntry: 'partly',
  usesBuckets: false,
  estimate: (leaf, known) =>
    leaf.columns === undefined ? decline('all-columns') : fromRows(leaf, known, 'seen'),
};

/** Reads rows with all their columns. */
export const wholeRowsStrategy: ReadStrategy = {
  name: 'whole-rows',
  summary: 'rows are read with all columns',
  namesFailedEntry: 'fully',
  usesBuckets: false,
  estimate: (leaf, known) => fromRows({ ...leaf, columns: undefined }, known, 'all'),
};

function fromRows(leaf: LeafPlan, known: RowEstimates, columns: 'seen' | 'all'): Candidate {
  const read: Attempt = async (request, context) => {
    const { range } = new RangeWindows(request.columns, request.leaf.range.range);
    const profiled = await profileRows(leaf, range, context);
    if (known.rows !== undefined && rowsOfStreams(profiled.listing.listed) > rowLimitFor(known.rows))
      return decline('more-rows');
    return countRowsOf(await rowRequest(leaf, profiled, context), request, context);
  };
  return { cost: costOfRows(known, { columns, heldRows: windowRows }), read };
}
