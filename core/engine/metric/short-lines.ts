import { Pacer } from '../../base/pace/pacer.js';
import { atPace } from '../../base/pace/steps.js';
import { Windows, type LeafRequest, type SeriesTable } from '../../logql/metric/index.js';
import { fieldName } from '../../victoria/logsql/build.js';
import type { LeafPlan } from '../plan/types.js';
import type { LeafContext, Strategy } from './context.js';
import { obstacleIn } from './count/profile.js';
import { decidingFields, groupByLabels } from './count/grouping.js';
import { listSelection, streamsWithSameEntries } from './count/stream-listing.js';
import { lenientNumberLines, openNames, shorteningQuestion } from './count/json.js';
import { decline, isDeclined, type Declined } from './declined.js';
import { rowsOfStreams } from './row-windows.js';
import { UnknownStreamError } from './row-streams.js';
import { countRowsOf, type RowRequest } from './rows.js';

/** Reads rows whose lines the backend has shortened to the relevant labels. */
export const shortLinesStrategy: Strategy = {
  name: 'short-lines',
  summary:
    'rows are read, with lines that the backend has shortened to the labels that `| json` takes from them',
  namesFailedEntry: 'no',
  prepare: ({ shortLines, ...leaf }) =>
    shortLines === undefined
      ? decline('lines-needed')
      : (request, context) => shortLinesTable({ ...leaf, shortLines }, request, context),
};

type Shortened = Omit<LeafPlan, 'shortLines'> & { readonly shortLines: NonNullable<LeafPlan['shortLines']> };

async function shortLinesTable(
  plan: Shortened,
  request: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable | Declined> {
  const { shortLines } = plan;
  const { leaf, columns } = request;
  const windows = new Windows(columns, leaf.range.range);
  if (windows.buckets === 0) return decline('no-buckets');
  const range = { startNs: windows.interval.fromNs, endNs: windows.interval.toNs + 1n };
  const rows = await shortRows(plan, range, context, request.signal);
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
  signal: AbortSignal,
): Promise<RowRequest | Declined> {
  const { upstream, reader, naming } = context;
  const streamListing = await listSelection(upstream, reader, selection, range, signal);
  const question = shorteningQuestion(openNames(shortLines.fromJson, streamListing));
  if (isDeclined(question)) return question;
  const pacer = new Pacer(signal);
  const together = await atPace(streamsWithSameEntries(streamListing.streams), pacer);
  if (together.size > 0) return decline('shared-streams');
  const deciding = decidingFields(shortLines.names, streamListing, naming);
  const grouping = await atPace(groupByLabels(shortLines.names, streamListing, deciding, naming), pacer);
  const asked = {
    ...context,
    selection,
    columns: grouping.placeholderColumns,
    unreliable: lenientNumberLines,
  };
  const profile = await context.profiler.of(asked, range, streamListing);
  if (profile.surplus?.length !== 0) return decline('repeated-rows');
  const obstacle = obstacleIn(profile);
  if (obstacle !== undefined) return obstacle;
  // These names become keys of row objects.
  if (deciding.all.includes('__proto__')) return decline('reserved-name');
  const selectedRows = rowsOfStreams(streamListing.listed);
  const shaper = await context.shapes.of(question, { ...context, selection, range, rows: selectedRows });
  if (isDeclined(shaper)) return shaper;
  return {
    ...{ filter: logs.filter, selection, range, selectedRows, repeats: 'nowhere' },
    pipes: shaper.pipes,
    columns: ['_time', '_msg', ...grouping.columns].map(fieldName),
    streams: { ...grouping, fields: deciding.all },
  };
}
