import type { VolumeAnswer } from '../../wire/answer/types.js';
import type { VolumeRangeRequest, VolumeRequest } from '../../wire/api/discovery-request.js';
import type { TimeRange } from '../../base/time/range.js';
import { VolumeBuckets, type VolumePiece } from './volume-buckets.js';
import { VolumePieces } from './volume-pieces.js';
import { TooManyVolumesError, VolumeSums } from './volume-sums.js';
import { apiError } from '../../base/errors/table.js';
import type { Label, LabelSet } from '../../base/labels/label-set.js';
import type { LogsqlQuery } from '../../victoria/logsql/ast.js';
import { and, query, stats, statsFunction, timeBucket } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';
import { parseRowTime } from '../../victoria/names/row-time.js';
import type { Begun } from '../../base/pace/begun.js';
import { Pacer } from '../../base/pace/pacer.js';
import type { VolumePlan } from '../plan/types.js';
import type { EngineContext } from '../context.js';
import { beginRows } from '../../victoria/upstream/begin-rows.js';
import { columnOf, type BackendRow } from '../../victoria/upstream/types.js';
import { readMetadataCosts, type MetadataCosts } from './metadata-bytes.js';
import { placeholderRows } from '../plan/missing-lines.js';

/** The longest time that Loki fills a chunk: its volumes are spread over that. */
const chunkNs = 2n * 3_600n * 1_000_000_000n;
/** The most pieces of one stream over a long range, where a piece covers more than a chunk. */
const maxPieces = 96n;

/** Beyond this number of entries, not all lines are read: counting costs a fraction of it, and the newest lines serve as a sample. */
const maxMeasuredEntries = 5_000_000;
/** The most pieces to hold for joining. */
const maxOpenPieces = 100_000;

/** How pieces are counted: by time cells or over the whole range, with or without the bytes of their lines. */
interface Counting {
  readonly cellNs: bigint | undefined;
  readonly isMeasured: boolean;
}
type Times = Pick<VolumePiece, 'firstNs' | 'lastNs'>;

/** Bytes of the selected streams in Loki's measure: what its chunks would hold of them (otel-README, rule 10). */
export async function answerVolume(
  plan: VolumePlan,
  request: VolumeRequest | VolumeRangeRequest,
  context: EngineContext,
): Promise<VolumeAnswer> {
  const startedAt = context.clock.monotonicMs();
  const { range } = request;
  const maxSeries = context.limits.of([context.tenant.id]).volumeMaxSeries;
  const span = range.endNs - range.startNs;
  const stepNs = request.op === 'volume_range' ? request.stepNs : range.endNs + 1n;
  const buckets = new VolumeBuckets(range, stepNs, context.clock.nowNs());
  const cellNs = request.op === 'volume_range' ? cellOf(span) : undefined;
  const sums = new VolumeSums({
    buckets,
    targets: plan.targets,
    required: plan.required,
    aggregateBy: request.aggregateBy,
    maxSeries,
  });
  let entries = 0;
  let bytes = 0;
  const pacer = new Pacer(context.signal);
  // One place for all reads: a second volume could hold the place that another read of this one waits for.
  const leave = await context.upstream.hold?.(range);
  let counting: Counting = { cellNs, isMeasured: true };
  // Begun before it is known how many entries there are, and begun anew where they are too many.
  let counted = countPieces(plan, range, counting, context);
  try {
    entries = await countEntries(plan, range, context);
    if (entries > maxMeasuredEntries) {
      counted.end();
      counting = { cellNs, isMeasured: false };
      counted = countPieces(plan, range, counting, context);
    }
    if (entries > 0) {
      const asked = { rows: entries, hasLines: !counting.isMeasured };
      const { metadata } = context.memories;
      const costs = await readMetadataCosts(plan.filter, range, asked, context, metadata);
      for await (const [labels, piece] of readPieces(counted, plan, range, counting, costs, context)) {
        bytes += piece.bytes;
        sums.add(labels, piece);
        const pause = pacer.due();
        if (pause !== undefined) await pause;
      }
    }
  } catch (error) {
    if (!(error instanceof TooManyVolumesError)) throw error;
    throw apiError('volumeSeriesLimit', { limit: maxSeries }, { cause: error });
  } finally {
    counted.end();
    leave?.();
  }
  return {
    kind: 'volume',
    series: sums.series(request.limit),
    stats: {
      linesProcessed: entries,
      bytesProcessed: Math.round(bytes),
      entriesReturned: 0,
      postFilterLines: entries,
      structuredMetadataBytes: 0,
      execTimeMs: context.clock.monotonicMs() - startedAt,
      splits: 1,
    },
    warnings: [],
  };
}

function cellOf(span: bigint): bigint {
  const chunks = span / chunkNs / maxPieces + 1n;
  return chunks * chunkNs;
}

async function countEntries(
  { filter }: VolumePlan,
  range: TimeRange,
  { upstream }: EngineContext,
): Promise<number> {
  const counted = stats([], statsFunction('count', [], 'entries'));
  const [sample] = await upstream.stats({ query: query(filter, [counted]), range });
  return Number(sample?.value ?? 0);
}

/** Counts by backend stream, and by time cell when there is more than one bucket; the backend begins at once. */
function countPieces(
  plan: VolumePlan,
  range: TimeRange,
  counting: Counting,
  { upstream, naming }: EngineContext,
): Begun<readonly BackendRow[]> {
  return beginRows(upstream, { query: piecesQuery(plan, counting, extraColumns(plan, naming)), range });
}

/**
 * The pieces of what the backend stores in place of missing lines, which count as none. As a filter this takes the backend no look at lines, as a
 * condition of the other sums it would.
 */
async function* placeholders(
  plan: VolumePlan,
  range: TimeRange,
  counting: Counting,
  { upstream, naming }: EngineContext,
): AsyncGenerator<readonly BackendRow[]> {
  if (!counting.isMeasured) return;
  const ofThem = { ...plan, filter: and(plan.filter, placeholderRows(naming)) };
  yield* upstream.rows({ query: piecesQuery(ofThem, counting, extraColumns(plan, naming)), range });
}

/** Joins the pieces of backend streams that are one Loki stream. */
async function* readPieces(
  counted: AsyncIterable<readonly BackendRow[]>,
  plan: VolumePlan,
  range: TimeRange,
  counting: Counting,
  costs: MetadataCosts,
  context: EngineContext,
): AsyncGenerator<readonly [LabelSet, VolumePiece]> {
  const { naming, reader } = context;
  const extra = extraColumns(plan, naming);
  const pieces = new VolumePieces();
  const add = (row: BackendRow, isPlaceholder: boolean): void => {
    const text = row._stream ?? '{}';
    const stream = reader.stream(text);
    const labels = extra.length === 0 ? stream.labels : stream.labels.with(valuesOf(row, extra));
    const { line, perEntry, perStream } = costs.of(text, stream);
    const entries = isPlaceholder ? 0 : Number(columnOf(row, 'entries') ?? 0);
    const { firstNs, lastNs } = timesOf(row, counting, range);
    const lines = counting.isMeasured ? Number(columnOf(row, 'lines') ?? 0) : entries * line;
    pieces.add(labels, counting.cellNs === undefined ? 0n : firstNs / counting.cellNs, {
      firstNs,
      lastNs,
      entries,
      bytes: (isPlaceholder ? -lines : lines) + entries * perEntry,
      sharedBytes: perStream,
    });
  };
  for await (const batch of placeholders(plan, range, counting, context))
    for (const row of batch) add(row, true);
  for await (const batch of counted) {
    for (const row of batch) add(row, false);
    // Beyond this, small pieces are not joined, which only costs accuracy.
    if (pieces.size > maxOpenPieces) yield* pieces.drain();
  }
  yield* pieces.drain();
}

type ExtraColumns = readonly (readonly [label: string, field: string])[];

/** Fields declared as labels: they need not be stream fields, so they are columns of the rows. */
function extraColumns({ targets }: VolumePlan, naming: Naming): ExtraColumns {
  if (targets === 'all') return [];
  return [...targets].flatMap((label) => naming.columnsOf(label).map((field) => [label, field] as const));
}

function piecesQuery(
  { filter }: VolumePlan,
  { cellNs, isMeasured }: Counting,
  extra: ExtraColumns,
): LogsqlQuery {
  const columns = ['_stream', ...extra.map(([, field]) => field)];
  const counts = stats(
    cellNs === undefined ? columns : [...columns, timeBucket(cellNs)],
    statsFunction('count', [], 'entries'),
    ...(isMeasured
      ? [
          statsFunction('sum_len', ['_msg'], 'lines'),
          statsFunction('min', ['_time'], 'first'),
          statsFunction('max', ['_time'], 'last'),
        ]
      : []),
  );
  return query(filter, [counts]);
}

/** The first and last entry of a piece; if these are not requested, the boundaries of its cell within the range. */
function timesOf(row: BackendRow, { cellNs, isMeasured }: Counting, range: TimeRange): Times {
  if (isMeasured)
    return {
      firstNs: parseRowTime(columnOf(row, 'first') ?? ''),
      lastNs: parseRowTime(columnOf(row, 'last') ?? ''),
    };
  if (cellNs === undefined) return { firstNs: range.startNs, lastNs: range.endNs - 1n };
  const startNs = parseRowTime(row._time ?? '');
  const endNs = startNs + cellNs;
  return {
    firstNs: startNs > range.startNs ? startNs : range.startNs,
    lastNs: (endNs < range.endNs ? endNs : range.endNs) - 1n,
  };
}

/** The first column of a label that has a value decides. */
function valuesOf(row: BackendRow, extra: ExtraColumns): Iterable<Label> {
  const values = new Map<string, string>();
  for (const [label, field] of extra) {
    const value = columnOf(row, field) ?? '';
    if (value !== '' && !values.has(label)) values.set(label, value);
  }
  return values;
}
