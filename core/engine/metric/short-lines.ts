import { Pacer } from '../../base/pace/pacer.js';
import { atPace } from '../../base/pace/steps.js';
import {
  entryLeafSource,
  Windows,
  type EntrySource,
  type LeafRequest,
  type SeriesTable,
} from '../../logql/metric/index.js';
import { fieldName } from '../../victoria/logsql/build.js';
import type { BackendRow } from '../../victoria/upstream/types.js';
import type { LeafPlan } from '../plan/types.js';
import type { LeafContext, Strategy } from './context.js';
import type { Facts } from './count/facts.js';
import { decidingFields, groupByLabels, type Grouping } from './count/grouping.js';
import { takeInventory, twinStreams } from './count/inventory.js';
import { oddLines, openNames, shorteningQuestion } from './count/json.js';
import { decline, isDeclined, type Declined } from './declined.js';
import { entryOf, readEntries, rowsOfStreams, type RowRequest } from './rows.js';

const maxKnown = 20_000;

/** A stream came after its selection was listed. */
class UnknownStreamError extends Error {}

/** Reads rows whose lines the backend has shortened to the labels that matter. */
export const shortLinesStrategy: Strategy = {
  name: 'short-lines',
  summary:
    'rows are read, with lines that the backend has shortened to the labels that `| json` takes from them',
  tellsEntry: 'not',
  prepare: ({ brief, ...leaf }) =>
    brief === undefined
      ? decline('lines-needed')
      : (request, context) => shortLinesTable({ ...leaf, brief }, request, context),
};

type Shortened = Omit<LeafPlan, 'brief'> & { readonly brief: NonNullable<LeafPlan['brief']> };

async function shortLinesTable(
  plan: Shortened,
  request: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable | Declined> {
  const { brief } = plan;
  const { leaf, columns } = request;
  const windows = new Windows(columns, leaf.range.range);
  if (windows.buckets === 0) return decline('no-buckets');
  const range = { startNs: windows.interval.fromNs, endNs: windows.interval.toNs + 1n };
  const rows = await shortRows(plan, range, context, request.signal);
  if (isDeclined(rows)) return rows;
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
    if (error instanceof UnknownStreamError) return decline('unlisted-stream');
    throw error;
  }
}

async function shortRows(
  { brief, logs, selection }: Shortened,
  range: RowRequest['range'],
  context: LeafContext,
  signal: AbortSignal,
): Promise<RowRequest | Declined> {
  const { upstream, reader, naming } = context;
  const inventory = await takeInventory(upstream, reader, selection, range, signal);
  const question = shorteningQuestion(openNames(brief.fromJson, inventory));
  if (isDeclined(question)) return question;
  const pacer = new Pacer(signal);
  const twins = await atPace(twinStreams(inventory.streams), pacer);
  if (twins.size > 0) return decline('shared-streams');
  const deciding = decidingFields(brief.names, inventory, naming);
  const grouping = await atPace(groupByLabels(brief.names, inventory, deciding, naming), pacer);
  const asked = { ...context, selection, columns: grouping.standIns, odd: oddLines };
  const obstacle = obstacleIn(await context.facts.of(asked, range, inventory.listed));
  if (obstacle !== undefined) return obstacle;
  // Rows are made with these as keys.
  if (deciding.all.includes('__proto__')) return decline('reserved-name');
  const selectedRows = rowsOfStreams(inventory.listed);
  const cutting = await context.shapes.of(question, { ...context, selection, range, rows: selectedRows });
  if (isDeclined(cutting)) return cutting;
  return {
    ...{ filter: logs.filter, selection, range, selectedRows, mayRepeat: false },
    pipes: cutting.pipes,
    columns: ['_time', '_msg', ...grouping.columns].map(fieldName),
    rewrite: withStream(grouping, deciding.all),
  };
}

/** What of the rows has to be looked at line by line. */
function obstacleIn({ suspects, missing, odd, isHidden }: Facts): Declined | undefined {
  if (suspects.size > 0) return decline('repeated-rows');
  if (missing > 0) return decline('missing-lines');
  if (odd > 0) return decline('lenient-numbers');
  return isHidden ? decline('hidden-fields') : undefined;
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
