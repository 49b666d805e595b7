import { countLines } from '../../../logql/functions/range/index.js';
import type { LeafEngine, LeafRequest } from '../../../logql/metric/index.js';
import { compileExtractor } from '../../../logql/pipeline/extractor.js';
import { atPace, eachAtPace, Pacer } from '../../../base/pace/steps.js';
import type { LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, everything } from '../../../victoria/logsql/build.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import { comparedLabels } from '../../plan/columns.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import type { FieldsPlan, LeafPlan } from '../../plan/types.js';
import type { LeafContext, ReadStrategy } from '../context.js';
import { costOfCounting, decline, type Declined, isDeclined } from '../cost.js';
import { rowsOfStreams } from './time-segments.js';
import { addRows, type RowRequest } from '../rows.js';
import {
  addGroup,
  countedTable,
  countGroups,
  type BegunCount,
  type Buckets,
  type CountRequest,
  type RowGroup,
} from './counting.js';
import { countUnread, type RebuiltCount } from './rebuilt-lines.js';
import { duplicateRows, subtractDuplicates } from './duplicates.js';
import {
  isGroupingValid,
  groupByLabels,
  groupAroundOverrides,
  rewrittenRows,
  type LabelSourceFields,
} from './grouping.js';
import {
  declineLines,
  isLevelShown,
  mayBeEmpty,
  rebuiltFields,
  rebuiltLineOf,
  rememberLines,
  withoutRead,
  type RebuiltFields,
} from './rebuilt-rows.js';
import { fieldsByOutcome, mayHaveEmptyLines, type StreamListing } from './stream-listing.js';

/**
 * Lets the backend count rows without a stored line by their fields. Their lines are rebuilt from these fields, so the fields contain all
 * that `| json` would find. For each group of rows with equal fields, one line is built and evaluated.
 */
export const fieldsStrategy: ReadStrategy = {
  name: 'fields',
  summary: 'the backend counts rows without a line by the fields that `| json` turns into labels',
  namesFailedEntry: 'no',
  usesBuckets: true,
  estimate({ fields, ...leaf }, known) {
    if (fields === undefined || leaf.logs.recheck.length > 0) return decline('lines-needed');
    if (known.hasLines) return decline('has-lines');
    return {
      cost: costOfCounting(known, { firstCalls: 2, splitsLines: false }),
      read: (request, context) =>
        countedTable(leaf, request, context, {
          begin: (of, listing, buckets) =>
            begin({ plan: { ...leaf, fields }, request, context: of, buckets, listing }, context),
        }),
    };
  },
};

/** The rows to count, in the expected streams. */
interface Asked {
  readonly plan: LeafPlan & { readonly fields: FieldsPlan };
  readonly request: LeafRequest;
  readonly context: LeafContext;
  readonly buckets: Buckets;
  readonly listing: StreamListing;
}

/** @param now context that answers without waiting for the current stream listing */
async function begin(asked: Asked, now: LeafContext): Promise<BegunCount | Declined> {
  const { plan, context, buckets, listing } = asked;
  const { selection, fields } = plan;
  const { range } = buckets;
  const rebuilt = rebuiltFields(fields, listing);
  const filter = and(plan.logs.filter, missingLineRows(context.naming));
  const sources: LabelSourceFields = { all: rebuilt.all, levels: [], hasOtlp: false };
  const pacer = new Pacer(context.signal);
  const byLabels = await atPace(groupByLabels(fields.names, listing, sources, context.naming), pacer);
  const profileRequest = {
    ...{ ...context, selection, columns: byLabels.streamKeyColumns },
    misparsedRows: rewrittenRows(rebuilt.all),
  };
  // A profile shows whether there are stored lines, but it is slower.
  const expected = context.profiler.lastKnown(profileRequest);
  const refusal = expected.isKnown ? undefined : await declineLines(selection, range, now);
  if (refusal !== undefined) return refusal;
  const whole = { ...byLabels, outcomes: outcomesOf(asked, rebuilt) };
  const grouping = await atPace(groupAroundOverrides(whole, expected, listing, sources), pacer);
  const counted: CountRequest = {
    ...{ context, rows: [{ filter, grouping }], buckets, maxGroups: Infinity },
    push: { ...fields, stageNames: new Set<string>(), looksAtLines: false },
  };
  const counting = countGroups(counted);
  // Handled, because the count may fail before it is awaited.
  counting.catch(() => undefined);
  return async (current) => {
    const [groups, profile] = await Promise.all([
      counting,
      context.profiler.of(profileRequest, range, current),
    ]);
    if (isDeclined(groups)) return groups;
    if (profile.hasLines) return rememberLines(selection, context);
    if (profile.misparsedRows > 0) return decline('rewritten-numbers');
    if (!isGroupingValid(profile, expected)) return decline('hidden-fields');
    // Where rows have no field of their own, their line is empty, which is not JSON.
    const mayBe = fields.readsJson && groups.some((group) => mayBeEmpty(group, rebuilt, context.reader));
    if (mayBe && (await mayHaveEmptyLines(filter, listing, range, context))) return decline('missing-lines');
    const { streams } = listing;
    const surplus =
      fields.measure === 'presence'
        ? []
        : await duplicateRows({ ...context, filter, range, streams, profile });
    if (isDeclined(surplus)) return surplus;
    const shown = await shownGroups(groups, rebuilt, asked, counted);
    if (isDeclined(shown)) return shown;
    const unread = shown.unread && {
      ...{ filter: and(filter, shown.unread), selection: and(selection, shown.unread), range },
      ...{ columns: undefined, selectedRows: rowsOfStreams(current.listed) },
    };
    return (into) => addCounts(into, { ...shown, surplus, unread }, rebuilt, asked);
  };
}

/** Replaces the values of fields that are only compared. */
function outcomesOf(
  { plan, listing, context }: Asked,
  { all, levels }: RebuiltFields,
): readonly LogsqlPipe[] {
  const { names, stages } = plan.fields;
  const beside = all.filter((field) => !levels.includes(field));
  const compared = comparedLabels(plan, plan.fields);
  return fieldsByOutcome({ fields: beside, names, stages, compared }, listing, context.naming);
}

interface Shown extends RebuiltCount {
  readonly groups: readonly RowGroup[];
}

/** The groups whose level the fields show, and a count of the others by rebuilt lines. */
async function shownGroups(
  groups: readonly RowGroup[],
  rebuilt: RebuiltFields,
  { plan, context, listing }: Asked,
  request: CountRequest,
): Promise<Shown | Declined> {
  if (!plan.fields.names.has(detectedLevelName)) return { groups, unread: undefined, rebuilt: [] };
  const isRead = (group: RowGroup): boolean => !isLevelShown(group, rebuilt, context.reader);
  const counted = withoutRead(groups, rebuilt.levels, isRead);
  if (isDeclined(counted)) return counted;
  const byLines = { ...request, lines: everything, rebuilt, listing, readsLevels: true };
  return { ...counted, ...(await countUnread(counted.unread, byLines, { ...plan, ...context })) };
}

interface Counted extends Omit<Shown, 'unread'> {
  readonly surplus: readonly BackendRow[];
  /** Rows to read including repeated ones, which are subtracted as surplus rows. */
  readonly unread: RowRequest | undefined;
}

/** Adds the counts, and the rows that had to be read. */
async function addCounts(
  into: LeafEngine,
  { groups, rebuilt: byLines, surplus, unread }: Counted,
  { all }: RebuiltFields,
  { plan, request, context }: Asked,
): Promise<void> {
  const { range, pushed } = plan;
  const { reader } = context;
  const pacer = new Pacer(context.signal);
  const evaluated = { reader, extract: compileExtractor({ ...range, op: countLines }, pushed), fields: [] };
  const withLine = (group: RowGroup): RowGroup => {
    const ofStream = reader.stream(group.stream).fields;
    const own = all.filter((name) => !ofStream.has(name));
    return { ...group, representative: { line: rebuiltLineOf(own, group.get) } };
  };
  await eachAtPace([...groups.map(withLine), ...byLines], pacer, (group) => {
    addGroup(group, evaluated, into.engine);
    into.checkSeries();
  });
  const ofRows = { reader, extract: compileExtractor(range, pushed), pacer };
  await subtractDuplicates(into.engine, { rows: surplus, times: [] }, ofRows);
  if (unread !== undefined) await addRows(into, { ...unread, repeats: 'nowhere' }, request, context);
}
