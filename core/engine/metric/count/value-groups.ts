import {
  leafEngine,
  leafTable,
  type LeafRequest,
  type RangeEngine,
  type SeriesTable,
} from '../../../logql/metric/index.js';
import { rangeFunctions } from '../../../logql/functions/range/index.js';
import { looksAt } from '../../../logql/stages/index.js';
import { Begun } from '../../../base/pace/begun.js';
import type { PipelineEntry } from '../../../logql/pipeline/types.js';
import { atPace, Pacer } from '../../../base/pace/steps.js';
import type { LogsqlQuery, StatsFunction } from '../../../victoria/logsql/ast.js';
import {
  and,
  compare,
  freeName,
  integerTypes,
  isSet,
  limit,
  not,
  ofTypes,
  or,
  query,
  regexp,
  stats,
  statsFunction,
  summaryFunction,
  timeBucket,
} from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { parseRowTime } from '../../../victoria/names/row-reader.js';
import { beginRows } from '../../../victoria/upstream/begin-rows.js';
import { GatheredValues } from '../../../victoria/upstream/gathered-values.js';
import { columnOf, type BackendRow, type RowsRequest } from '../../../victoria/upstream/types.js';
import { groupingOf, type ParsedNames } from '../../plan/columns.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import type { LeafContext, ReadStrategy } from '../context.js';
import { costOfCounting, decline, type Declined, type DeclineReason, isDeclined } from '../cost.js';
import { callRows, planWindows, rowsOfStreams } from './time-segments.js';
import { profiledEntries, type ProfiledRows } from '../rows.js';
import { rangeBuckets, type Buckets } from './counting.js';
import { denseRows, distinctRows, duplicateRows, rowPartsOf, type DenseRows } from './duplicates.js';
import { GroupedValues, type ValueSummary } from './grouped-values.js';
import { isGroupingValid, groupAroundOverrides, streamOf, type RowGrouping } from './grouping.js';
import type { ValueDigest } from './labels/questions.js';
import { obstacleIn, type SelectionProfile } from './profile.js';
import {
  fieldFactsOf,
  isMissingWithoutLines,
  rowLabels,
  valueFactsOf,
  type Unwrapping,
} from './value-facts.js';
import { withLinesDecided } from './rebuilt-lines.js';
import { findLines } from './rebuilt-rows.js';
import { cheapestDigest, type Get } from './line-digests.js';
import { listSelection, mayHaveEmptyLines } from './stream-listing.js';

/** Maximum number of groups per call, counted in each time bucket. */
const maxGroups = 100_000;

/** Maximum number of values per group and time bucket that the backend gathers beside a summary of the others. */
const maxOthers = 100;
/** Reasons to decline that do not hold for calls over fewer rows each, without summaries. */
const reasonsForParts: ReadonlySet<DeclineReason> = new Set(['too-many-values', 'too-many-groups']);
/** Matches numbers that the backend adds up and compares as Loki does. Others may be sizes or durations to it. */
const plainNumber = '^(0|[1-9][0-9]{0,14})([.][0-9]{1,17})?$';

/** Lets the backend gather the values of each group and time bucket. */
export const valueGroupsStrategy: ReadStrategy = {
  name: 'value-groups',
  summary:
    'the backend collects the values that `unwrap` reads from stored labels, or from those of a parser, by the columns that determine their labels',
  namesFailedEntry: 'no',
  usesBuckets: true,
  estimate(leaf, known) {
    const { values, range } = leaf;
    const { unwrap } = range.range;
    if (unwrap === undefined || rangeFunctions[range.op].ofValues === 'times') return decline('times-needed');
    if (values === undefined) return decline('lines-needed');
    const labels = groupingOf(leaf)?.labels ?? [];
    const isSeen =
      labels.includes(unwrap.name) ||
      [...values.stages, ...unwrap.filters].some((stage) => looksAt(stage, (one) => one === unwrap.name)) ||
      isPartOfOthers(unwrap.name, values.parsed);
    if (isSeen) return decline('values-seen');
    return {
      cost: costOfCounting(known, {
        firstCalls: 3,
        splitsLines: values.parsed !== undefined && known.hasLines,
      }),
      read: async (request, context) => {
        const plan = { ...leaf, values, unwrap };
        const numbers = ['plain numbers', printFilter(leaf.selection), unwrap.name];
        if (unwrap.conversion === undefined && context.declines.of(...numbers) === undefined) {
          const table = await valueTable(plan, true, request, context);
          if (!isDeclined(table) || !reasonsForParts.has(table.declined)) return table;
          context.declines.remember(table, ...numbers);
        }
        return valueTable(plan, false, request, context);
      },
    };
  },
};

/** True if another label of `| json` has the value of this one, or an object around it. */
function isPartOfOthers(name: string, parsed: ParsedNames | undefined): boolean {
  if (parsed?.parser.from !== 'json-paths') return false;
  const { paths } = parsed.parser;
  const [, own = []] = paths.find(([label]) => label === name) ?? [];
  return paths.some(
    ([label, keys]) =>
      label !== name && keys.every((key, depth) => depth >= own.length || key === own[depth]),
  );
}

/** @param isSummed true if the backend may tell the sum of values, or the least or greatest of them, where that is enough */
async function valueTable(
  leaf: Unwrapping,
  isSummed: boolean,
  request: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable | Declined> {
  const buckets = rangeBuckets(request.columns, leaf.range.range);
  if (isDeclined(buckets)) return buckets;
  const { range } = buckets;
  const { reader, naming, profiler } = context;
  const [hasLines, streamListing] = await Promise.all([
    findLines(leaf.selection, range, context),
    listSelection(leaf.selection, range, context),
  ]);
  const plan = withLinesDecided(leaf, streamListing, naming);
  const { streams, listed } = streamListing;
  const into = leafEngine(request);
  const pacer = new Pacer(context.signal);
  const hasParser = plan.values.parsed !== undefined;
  if (!hasLines && !hasParser && isMissingWithoutLines(plan.unwrap.name, streamListing)) {
    context.counts.scanned(listed);
    return leafTable(into, context.signal);
  }
  // Fields do not show whether a line passes its filters.
  if (!hasLines && plan.logs.recheck.length > 0) return decline('lines-needed');
  const known = hasLines
    ? await valueFactsOf(plan, streamListing, range, context)
    : await fieldFactsOf(plan, streamListing, context);
  if (isDeclined(known)) return known;
  // Values that fit into one call are requested in parallel with the inspection that validates them.
  const summary = isSummed ? into.engine.summary : undefined;
  const isOneCall = summary !== undefined || rowsOfStreams(listed) <= callRows;
  const expected = profiler.lastKnown(known.profileRequest);
  const gatherWith = async (
    profile: SelectionProfile,
    digest: ValueDigest,
    readsMissing: boolean,
    dense?: DenseRows,
  ): Promise<Gathering> => {
    const asked = groupAroundOverrides(known.grouping, profile, streamListing, known.sources);
    const grouping = await atPace(asked, pacer);
    return gather({ grouping, digest, readsMissing, summary, dense, plan, buckets, isOneCall }, context);
  };
  const mayReadMissing = ({ missing }: SelectionProfile): boolean => hasLines && missing > 0;
  // Values hidden by fields are missing in rebuilt lines, and if all labels are visible, they are labels; other lines are in separate groups.
  const seesOverrides = !hasLines || plan.values.names === 'all';
  const obstacleTo = (profile: SelectionProfile): Declined | undefined =>
    obstacleIn(seesOverrides ? profile : { ...profile, hasOverrides: false });
  const isExpected = obstacleTo(expected) === undefined && (!known.mayHaveRowLabels || expected.isKnown);
  // The rows to deduplicate depend on times, and thus on the range.
  const mayBegin = isExpected && expected.dense.length === 0;
  let gathering = mayBegin
    ? await gatherWith(expected, cheapestDigest(known.digest, expected), mayReadMissing(expected))
    : undefined;
  let withoutLine: Begun<readonly PipelineEntry[]> | undefined;
  try {
    const profile = await profiler.of(known.profileRequest, range, streamListing);
    const obstacle = obstacleTo(profile);
    if (obstacle !== undefined && known.mayHaveRowLabels)
      return context.declines.remember(decline('row-labels'), ...rowLabels(plan));
    if (obstacle !== undefined) return obstacle;
    const digest = cheapestDigest(known.digest, profile);
    const readsMissing = mayReadMissing(profile);
    const dense = denseRows(profile, reader);
    const isRight =
      gathering?.digest === digest &&
      gathering.readsMissing === readsMissing &&
      isGroupingValid(profile, expected);
    if (gathering === undefined || !isRight || dense !== undefined) {
      endAll(gathering);
      gathering = await gatherWith(profile, digest, readsMissing, dense);
    }
    const asked = { ...context, filter: plan.logs.filter, range };
    const surplus = await duplicateRows({ ...asked, streams, profile, leavesDense: true });
    if (isDeclined(surplus)) return surplus;
    const values = new GroupedValues(plan, context, {
      ...{ into, buckets, digest, summary, fields: known.sources.all },
    });
    const kept = values.leaveOut(surplus, readsMissing);
    if (kept !== undefined) return kept;
    context.counts.scanned(listed);
    if (readsMissing)
      withoutLine = beginWithoutLine(plan, { range, listing: streamListing, profile }, context);
    const stopped = await readValues(values, gathering, context);
    if (stopped !== undefined) return stopped;
    for await (const batch of withoutLine ?? []) await values.addEntries(batch);
    await values.end();
    if (!values.areOrderless) return decline('times-needed');
    const { hasEmpty } = values;
    if (!hasLines && hasEmpty && (await mayHaveEmptyLines(plan.logs.filter, streamListing, range, context)))
      return decline('missing-lines');
    // Rows were added or deleted since the surplus rows were found.
    if (values.leftOver > 0) return decline('repeated-rows');
    return await leafTable(into, context.signal);
  } finally {
    endAll(gathering);
    withoutLine?.end();
  }
}

/** Begins to read the rows without a line. */
function beginWithoutLine(
  plan: Unwrapping,
  profiled: ProfiledRows,
  context: LeafContext,
): Begun<readonly PipelineEntry[]> {
  const missing = missingLineRows(context.naming);
  const logs = { ...plan.logs, filter: and(plan.logs.filter, missing) };
  const rows = { ...plan, logs, selection: and(plan.selection, missing) };
  const few = { ...profiled, selectedRows: profiled.profile.missing };
  return new Begun((stop) => {
    const upstream = context.upstream.until?.(stop) ?? context.upstream;
    return profiledEntries(rows, few, { ...context, upstream });
  });
}

/** Calls for values, in groups. */
interface Gathering extends GatheringRequest {
  /** The columns of the statistics. */
  readonly names: Readonly<Record<'rows' | 'present' | 'plain' | 'summary' | 'values', string>>;
  /** One query for each part of the rows. */
  readonly queries: readonly LogsqlQuery[];
  /** The calls for the parts, if they have been started. */
  readonly begun: readonly Call[] | undefined;
}

type Call = Begun<readonly BackendRow[]>;

function endAll(gathering: Gathering | undefined): void {
  for (const call of gathering?.begun ?? []) call.end();
}

interface GatheringRequest {
  readonly grouping: RowGrouping;
  readonly digest: ValueDigest;
  /** True if rows without a line are read instead of gathered. */
  readonly readsMissing: boolean;
  readonly summary: RangeEngine['summary'];
  readonly plan: Unwrapping;
  readonly buckets: Buckets;
  readonly dense: DenseRows | undefined;
  /** True if one call serves the whole range, and is started now. */
  readonly isOneCall: boolean;
}

function gather(request: GatheringRequest, { upstream, naming }: LeafContext): Gathering {
  const { grouping, digest, readsMissing, summary, plan, buckets, dense, isOneCall } = request;
  const { range, stepNs, shiftNs, count } = buckets;
  const columns = [...grouping.columns, ...digest.columns];
  const named = (name: string): string => freeName(name, columns);
  const names = {
    ...{ rows: named('rows'), present: named('present'), plain: named('plain') },
    ...{ summary: named('summary'), values: named('values') },
  };
  const withLine = readsMissing ? not(missingLineRows(naming)) : and();
  const gathered = stats(
    count === 1 ? columns : [...columns, timeBucket(stepNs, -shiftNs)],
    statsFunction('count', [], names.rows),
    ...valueStatistics(digest.valueColumn, summary, names),
  );
  const seen = [...columns, digest.valueColumn];
  const queries = rowPartsOf(and(plan.logs.filter, withLine), dense).map((part) =>
    query(part.filter, [
      ...grouping.pipes,
      ...distinctRows(part, seen),
      ...digest.pipes,
      ...(grouping.outcomes ?? []),
      gathered,
      limit(maxGroups + 1),
    ]),
  );
  const begun = isOneCall ? queries.map((asked) => beginRows(upstream, { query: asked, range })) : undefined;
  return { ...request, names, queries, begun };
}

/** The values of a column, or a summary of those that are plain numbers beside the others. */
function valueStatistics(
  column: string,
  summary: Gathering['summary'],
  names: Gathering['names'],
): readonly StatsFunction[] {
  const values = statsFunction('values', [column], names.values);
  if (summary === undefined) return [values];
  const areNumbers = ofTypes(column, [...integerTypes, 'float64']);
  const isPlain = or(and(areNumbers, compare(column, '>=', '0')), regexp(column, plainNumber));
  return [
    statsFunction('count', [column], names.present),
    { ...statsFunction('count', [], names.plain), condition: isPlain },
    { ...summaryFunction(summary, column, names.summary), condition: isPlain },
    { ...values, limit: maxOthers, condition: and(isSet(column), not(isPlain)) },
  ];
}

function summaryOf({ summary, names }: Gathering, get: Get): ValueSummary | undefined {
  if (summary === undefined) return undefined;
  const count = Number(get(names.plain));
  return { value: Number(get(names.summary)), count, others: Number(get(names.present)) - count };
}

/** The answers of all calls. */
async function* callsOf(
  { plan: { selection }, buckets: { range }, queries, begun }: Gathering,
  { upstream }: LeafContext,
): AsyncGenerator<Call> {
  if (begun !== undefined) {
    yield* begun;
    return;
  }
  const windows = await planWindows(upstream, selection, range, callRows);
  const calls = windows.flatMap((window) => queries.map((asked) => ({ query: asked, range: window.range })));
  const begin = (asked: RowsRequest | undefined): Call | undefined => asked && beginRows(upstream, asked);
  // The backend gathers the next values while these are being read.
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

/** Reads all groups. Returns the reason if it stopped early. */
async function readValues(
  values: GroupedValues,
  gathering: Gathering,
  context: LeafContext,
): Promise<Declined | undefined> {
  const { names, grouping, buckets } = gathering;
  const { range, stepNs, count } = buckets;
  for await (const call of callsOf(gathering, context)) {
    let groups = 0;
    for await (const batch of call) {
      context.signal.throwIfAborted();
      groups += batch.length;
      if (groups > maxGroups) return decline('too-many-groups');
      for (const row of batch) {
        const get: Get = (name) => columnOf(row, name);
        const stream = streamOf(grouping, get);
        if (stream === undefined) return decline('unlisted-stream');
        const endNs = count === 1 ? range.endNs - 1n : parseRowTime(row._time ?? '') + stepNs - 1n;
        const gathered = new GatheredValues(get(names.values) ?? '[]');
        const summary = summaryOf(gathering, get);
        const rows = Number(get(names.rows));
        const stopped = await values.add({ get, stream, endNs, rows, gathered, summary });
        if (stopped !== undefined) return stopped;
        if (!values.areOrderless) return decline('times-needed');
      }
    }
  }
  return undefined;
}
