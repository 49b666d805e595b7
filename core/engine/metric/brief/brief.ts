import { entryLeafSource, type EntrySource, Windows } from '../../../logql/metric/index.js';
import type { LeafRequest, SeriesTable } from '../../../logql/metric/index.js';
import { fieldName } from '../../../victoria/logsql/build.js';
import type { LeafPlan } from '../../plan/types.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import { decidingFields } from '../count/fields.js';
import { groupByLabels, groupByStream, type Grouping } from '../count/grouping.js';
import { takeInventory, twinStreams } from '../count/inventory.js';
import { briefQuestion, oddLines, openNames } from '../count/json.js';
import { entryOf, readEntries, rowsOfStreams, type RowContext, type RowRequest } from '../rows/rows.js';

const maxKnown = 20_000;

/** A stream came after its selection was listed. */
class UnknownStreamError extends Error {}

/**
 * The series of a leaf from rows of which the backend sends no more than what matters. Undefined where lines, or what rows repeat
 * or hide, have to be looked at.
 * @throws ApiError as rows in full would make it
 */
export async function briefTable(
  plan: LeafPlan,
  request: LeafRequest,
  context: RowContext,
): Promise<SeriesTable | undefined> {
  const { brief } = plan;
  const { leaf, columns } = request;
  const windows = new Windows(columns, leaf.range.range);
  if (brief === undefined || windows.buckets === 0) return undefined;
  const range = { startNs: windows.interval.fromNs, endNs: windows.interval.toNs + 1n };
  const rows = await briefRows({ ...plan, brief }, range, context, request.signal);
  if (rows === undefined) return undefined;
  const entries: EntrySource = {
    async *entries(_leaf, _interval, signal) {
      for await (const batch of readEntries(rows, context)) {
        signal.throwIfAborted();
        yield batch.map(entryOf);
      }
    },
  };
  const source = entryLeafSource(entries, context.workers);
  const stages = { ...leaf.range.range.query, stages: brief.stages };
  const short = { ...leaf.range, range: { ...leaf.range.range, query: stages } };
  try {
    return await source.series({ ...request, leaf: { ...leaf, range: short } });
  } catch (error) {
    if (error instanceof UnknownStreamError) return undefined;
    throw error;
  }
}

async function briefRows(
  { brief, logs, selection }: LeafPlan & { readonly brief: NonNullable<LeafPlan['brief']> },
  range: RowRequest['range'],
  context: RowContext,
  signal: AbortSignal,
): Promise<RowRequest | undefined> {
  const { upstream, reader, naming, shapes, owner } = context;
  const inventory = await takeInventory(upstream, reader, selection, range, signal);
  const question = briefQuestion(openNames(brief.fromJson, inventory));
  if (question === undefined) return undefined;
  const pacer = new Pacer(signal);
  const twins = await atPace(twinStreams(inventory.streams), pacer);
  if (twins.size > 0) return undefined;
  const deciding = decidingFields(brief.names, inventory, naming);
  const byLabels = await atPace(groupByLabels(brief.names, inventory, deciding, naming), pacer);
  const grouping = byLabels ?? groupByStream(inventory, deciding);
  const asked = { ...context, selection, columns: grouping.standIns, odd: oddLines };
  const { suspects, missing, odd, isHidden } = await context.facts.of(asked, range, inventory.listed);
  if (suspects.size > 0 || missing > 0 || odd > 0 || isHidden) return undefined;
  // Rows are made with these as keys.
  if (deciding.all.includes('__proto__')) return undefined;
  const selectedRows = rowsOfStreams(inventory.listed);
  const cutting = await shapes.of(question, owner, upstream, selection, range, selectedRows);
  if (cutting === undefined) return undefined;
  return {
    ...{ filter: logs.filter, selection, range, selectedRows, mayRepeat: false },
    pipes: cutting.pipes,
    columns: ['_time', '_msg', ...grouping.columns].map(fieldName),
    rewrite: withStream(grouping, deciding.all),
  };
}

/** Gives rows the stream that their columns tell. All come out with the same keys in the same order, which is read fastest. */
function withStream(grouping: Grouping, fields: readonly string[]): (row: BackendRow) => BackendRow {
  const known = new Map<string, string>();
  const { standIns, columns } = grouping;
  const [first, ...others] = columns.filter((name) => name === '_stream' || standIns.includes(name));
  const keyOf = (row: BackendRow): string => {
    if (first === undefined) return '';
    return others.length === 0
      ? (row[first] ?? '')
      : JSON.stringify([row[first], ...others.map((name) => row[name])]);
  };
  return (row) => {
    const key = keyOf(row);
    let stream = known.get(key);
    if (stream === undefined) {
      stream = grouping.streamOf((name) => row[name]);
      if (stream === undefined) throw new UnknownStreamError('a stream that was not listed');
      if (known.size >= maxKnown) known.clear();
      known.set(key, stream);
    }
    const made: Record<string, string> = {
      _time: row['_time'] ?? '',
      _stream: stream,
      _msg: row['_msg'] ?? '',
    };
    for (const name of fields) made[name] = row[name] ?? '';
    return made;
  };
}
