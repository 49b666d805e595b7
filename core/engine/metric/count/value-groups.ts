import { leafEngine } from '../../../logql/metric/index.js';
import type { LeafRequest, SeriesTable } from '../../../logql/metric/index.js';
import type { Stage } from '../../../logql/ast.js';
import { looksAt } from '../../../logql/stages/index.js';
import type { Begun } from '../../../base/pace/begun.js';
import { Pacer } from '../../../base/pace/pacer.js';
import type { LogsqlQuery } from '../../../victoria/logsql/ast.js';
import { freeName, limit, query, stats, statsFunction, timeBucket } from '../../../victoria/logsql/build.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import { beginRows } from '../../../victoria/upstream/begin-rows.js';
import { GatheredValues } from '../../../victoria/upstream/gathered-values.js';
import { columnOf, type BackendRow, type RowsRequest } from '../../../victoria/upstream/types.js';
import { groupingOf } from '../../plan/metric-columns.js';
import type { LeafContext, Strategy } from '../context.js';
import { costOfCounting } from '../cost.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { callRows, planWindows, rowsOfStreams } from '../row-windows.js';
import { bucketsOf, type Buckets } from './counting.js';
import { duplicateRows } from './duplicates.js';
import { crowdedRows, distinctRows, partsOf, type CrowdedRows } from './found-repeats.js';
import { GroupedValues } from './grouped-values.js';
import { streamOf, type Grouping } from './grouping.js';
import type { ValueShaper } from './json.js';
import { obstacleIn, type SelectionProfile } from './profile.js';
import { isOrderless, isSum, knownOf, knownOfFields, type Known, type Unwrapping } from './known-values.js';
import { declineLines, mayHaveEmptyLines } from './rebuilt-rows.js';
import { surest, type Get } from './shapes.js';
import { listSelection } from './stream-listing.js';

/** The most groups, counted in each bucket of time, of one call. */
const maxGroups = 100_000;

/** Lets the backend gather the values of each group and bucket of time. */
export const valueGroupsStrategy: Strategy = {
  name: 'value-groups',
  summary:
    'the backend gathers the values that `unwrap` takes from `| json` by the columns that tell their labels',
  namesFailedEntry: 'no',
  estimate(leaf, known) {
    const { shortLines, range } = leaf;
    const { unwrap } = range.range;
    if (shortLines === undefined) return decline('lines-needed');
    if (unwrap === undefined || !(isOrderless(range) || isSum(range))) return decline('times-needed');
    const labels = groupingOf(leaf)?.labels ?? [];
    const isSeen =
      labels.includes(unwrap.name) || isNamed(unwrap.name, [...shortLines.stages, ...unwrap.filters]);
    if (isSeen) return decline('values-seen');
    return {
      cost: costOfCounting(known, { firstCalls: 3, splitsLines: known.hasLines }),
      read: (request, context) => valueTable({ ...leaf, shortLines, unwrap }, request, context),
    };
  },
};

function isNamed(name: string, stages: readonly Stage[]): boolean {
  return stages.some((stage) => looksAt(stage, (one) => one === name));
}

async function valueTable(
  plan: Unwrapping,
  request: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable | Declined> {
  const buckets = bucketsOf(request.columns, plan.range.range);
  if (isDeclined(buckets)) return buckets;
  const { range } = buckets;
  const { upstream, reader, limits, profiler } = context;
  const [refusal, streamListing] = await Promise.all([
    declineLines(plan.selection, range, context),
    listSelection(upstream, reader, plan.selection, range, request.signal),
  ]);
  const { streams, listed } = streamListing;
  const known =
    refusal === undefined
      ? await knownOfFields(plan, streamListing, request, context)
      : await knownOf(plan, streamListing, range, request, context);
  if (isDeclined(known)) return known;
  // Values that come in one call are asked for beside the look that proves them right.
  const isOneCall = rowsOfStreams(listed) <= callRows;
  const expected = profiler.expected(known.profileRequest);
  const gatherWith = (shaper: ValueShaper, crowded: CrowdedRows | undefined): Gathering =>
    gather({ ...known, shaper, crowded, plan, buckets, isOneCall }, context);
  const obstacleTo = (profile: SelectionProfile): Declined | undefined =>
    obstacleIn(refusal === undefined ? { ...profile, missing: 0 } : profile);
  // Which rows to tell apart depends on times, and so on the range.
  const mayBegin = obstacleTo(expected) === undefined && expected.crowded.length === 0;
  let gathering = mayBegin ? gatherWith(surest(known.shaper, expected), undefined) : undefined;
  try {
    const profile = await profiler.of(known.profileRequest, range, streamListing);
    const obstacle = obstacleTo(profile);
    if (obstacle !== undefined) return obstacle;
    const shaper = surest(known.shaper, profile);
    const crowded = crowdedRows(profile, reader);
    if (gathering?.shaper !== shaper || crowded !== undefined) {
      endAll(gathering);
      gathering = gatherWith(shaper, crowded);
    }
    const looked = { ...context, memory: limits.memory, filter: plan.logs.filter, range };
    const surplus = await duplicateRows({ ...looked, streams, profile, leavesCrowded: true });
    if (isDeclined(surplus)) return surplus;
    const into = leafEngine(request);
    const values = new GroupedValues(plan, request, context, { into, buckets, shaper });
    values.leaveOut(surplus);
    context.counts.scanned(listed);
    const { grouping } = known;
    const stopped = await readValues({ plan, grouping, buckets, gathering, values }, request, context);
    if (stopped !== undefined) return stopped;
    if (isSum(plan.range) && values.areRounded) return decline('times-needed');
    const { hasEmpty } = values;
    if (
      refusal === undefined &&
      hasEmpty &&
      (await mayHaveEmptyLines(plan.logs.filter, streamListing, range, context))
    )
      return decline('missing-lines');
    // Rows came or went since the surplus ones were found.
    if (values.leftOver > 0) return decline('repeated-rows');
    const pacer = new Pacer(request.signal);
    await into.engine.prepare(pacer);
    return await into.table(pacer);
  } finally {
    endAll(gathering);
  }
}

/** Calls for values, in groups. */
interface Gathering {
  readonly shaper: ValueShaper;
  readonly names: { readonly rows: string; readonly values: string };
  /** For each part of the rows. */
  readonly asked: readonly LogsqlQuery[];
  /** Their answers, if they have begun. */
  readonly begun: readonly Begun<readonly BackendRow[]>[] | undefined;
}

function endAll(gathering: Gathering | undefined): void {
  for (const call of gathering?.begun ?? []) call.end();
}

interface GatheringRequest extends Pick<Known, 'grouping' | 'shaper'> {
  readonly plan: Unwrapping;
  readonly buckets: Buckets;
  readonly crowded: CrowdedRows | undefined;
  /** Whether one call is to answer for the whole range, and to begin now. */
  readonly isOneCall: boolean;
}

function gather(
  { grouping, shaper, plan, buckets, crowded, isOneCall }: GatheringRequest,
  { upstream }: LeafContext,
): Gathering {
  const { range, stepNs, shiftNs, count } = buckets;
  const columns = [...grouping.columns, ...shaper.columns];
  const names = { rows: freeName('rows', columns), values: freeName('values', columns) };
  const gathered = stats(
    count === 1 ? columns : [...columns, timeBucket(stepNs, -shiftNs)],
    statsFunction('count', [], names.rows),
    statsFunction('values', [shaper.valueColumn], names.values),
  );
  const seen = [...columns, shaper.valueColumn];
  const asked = partsOf(plan.logs.filter, crowded).map((part) =>
    query(part.filter, [...distinctRows(part, seen), ...shaper.pipes, gathered, limit(maxGroups + 1)]),
  );
  const begun = isOneCall ? asked.map((one) => beginRows(upstream, { query: one, range })) : undefined;
  return { shaper, names, asked, begun };
}

interface Reading {
  readonly plan: Unwrapping;
  readonly grouping: Grouping;
  readonly buckets: Buckets;
  readonly gathering: Gathering;
  readonly values: GroupedValues;
}

/** The answers of all calls. */
async function* callsOf(
  { plan: { selection }, buckets: { range }, gathering: { asked, begun } }: Reading,
  { upstream }: LeafContext,
): AsyncGenerator<AsyncIterable<readonly BackendRow[]>> {
  if (begun !== undefined) {
    yield* begun;
    return;
  }
  const windows = await planWindows(upstream, selection, range, callRows);
  const calls = windows.flatMap((window) => asked.map((one) => ({ query: one, range: window.range })));
  const begin = (call: RowsRequest | undefined): Begun<readonly BackendRow[]> | undefined =>
    call && beginRows(upstream, call);
  // The backend gathers the next values while these are read.
  let next = begin(calls[0]);
  try {
    for (let index = 1; next !== undefined; index += 1) {
      const call = next;
      next = begin(calls[index]);
      try {
        yield call;
      } finally {
        call.end();
      }
    }
  } finally {
    next?.end();
  }
}

/** Reads all groups; returns why it stopped early, if it did. */
async function readValues(
  reading: Reading,
  { signal }: LeafRequest,
  context: LeafContext,
): Promise<Declined | undefined> {
  const { grouping, values } = reading;
  const { range, stepNs, count } = reading.buckets;
  const { names } = reading.gathering;
  for await (const call of callsOf(reading, context)) {
    let groups = 0;
    for await (const batch of call) {
      signal.throwIfAborted();
      groups += batch.length;
      if (groups > maxGroups) return decline('too-many-groups');
      for (const row of batch) {
        const get: Get = (name) => columnOf(row, name);
        const stream = streamOf(grouping, get);
        if (stream === undefined) return decline('unlisted-stream');
        const endNs = count === 1 ? range.endNs - 1n : parseRowTime(row._time ?? '') + stepNs - 1n;
        const gathered = new GatheredValues(get(names.values) ?? '[]');
        await values.add({ get, stream, endNs, rows: Number(get(names.rows)), gathered });
      }
    }
  }
  return undefined;
}
