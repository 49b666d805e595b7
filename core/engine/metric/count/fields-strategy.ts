import { countLines } from '../../../logql/functions/range/index.js';
import {
  addEntries,
  leafEngine,
  type LeafEngine,
  type LeafRequest,
  type SeriesTable,
} from '../../../logql/metric/index.js';
import { LinePacer, sampleEvaluator } from '../../../logql/lines/evaluator.js';
import { compileExtractor } from '../../../logql/pipeline/extractor.js';
import { atPace, Pacer } from '../../../base/pace/steps.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { pipelineEntry } from '../../../victoria/names/row-reader.js';
import { and, everything } from '../../../victoria/logsql/build.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import { comparedLabels } from '../../plan/columns.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import type { FieldsPlan, LeafPlan } from '../../plan/types.js';
import type { LeafContext, ReadStrategy } from '../context.js';
import { costOfCounting, decline, type Declined, isDeclined } from '../cost.js';
import { rowsOfStreams } from './time-segments.js';
import { readEntries } from '../rows.js';
import { rangeBuckets, countGroups, GroupEvaluator, type Buckets, type CountRequest } from './counting.js';
import { countUnread, type RebuiltCount } from './rebuilt-lines.js';
import { beginEarly } from '../../listings/upstreams.js';
import { duplicateRows } from './duplicates.js';
import {
  isGroupingValid,
  groupByLabels,
  groupAroundOverrides,
  rewrittenRows,
  type LabelSourceFields,
} from './grouping.js';
import type { RowGroup } from './counting.js';
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
import type { ProfileRequest, SelectionProfile } from './profile.js';
import {
  fieldsByOutcome,
  mayHaveEmptyLines,
  type ListedRange,
  type StreamListing,
} from './stream-listing.js';

type Planned = LeafPlan & { readonly fields: FieldsPlan };

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
      read: (request, context) => fieldsTable({ ...leaf, fields }, request, context),
    };
  },
};

async function fieldsTable(
  plan: Planned,
  request: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable | Declined> {
  const { leaf, columns, signal } = request;
  const buckets = rangeBuckets(columns, leaf.range.range);
  if (isDeclined(buckets)) return buckets;
  const { selection } = plan;
  const { listing, begun } = await beginEarly(
    {
      ...{ selection, range: buckets.range, signal },
      isReady: () => true,
      begin: (of, streamListing) =>
        new FieldCounting(plan, request, of, buckets, streamListing).begin(context),
    },
    context,
  );
  if (isDeclined(begun)) return begun;
  const { counting } = begun;
  const counted = await counting.count(begun, listing);
  if (isDeclined(counted)) return counted;
  const into = leafEngine(request, true);
  context.counts.scanned(listing.listed);
  await counting.addTo(into, counted, rowsOfStreams(listing.listed));
  const pacer = new Pacer(signal);
  await into.engine.prepare(pacer);
  return into.table(pacer);
}

/** A count in progress, for the expected streams. */
interface Begun {
  readonly counting: FieldCounting;
  readonly profileRequest: ProfileRequest;
  /** The profile that the grouping assumes. */
  readonly expected: SelectionProfile;
  readonly groups: Promise<readonly RowGroup[] | Declined>;
  /** The count of the groups. */
  readonly request: CountRequest;
}

interface Counted extends RebuiltCount {
  readonly groups: readonly RowGroup[];
  readonly surplus: readonly BackendRow[];
}

class FieldCounting {
  readonly #plan: Planned;
  readonly #request: LeafRequest;
  readonly #context: LeafContext;
  readonly #buckets: Buckets;
  readonly #listing: StreamListing;
  readonly #fields: readonly string[];
  readonly #rebuilt: RebuiltFields;
  readonly #filter: LogsqlFilter;

  constructor(
    plan: Planned,
    request: LeafRequest,
    context: LeafContext,
    buckets: Buckets,
    listing: StreamListing,
  ) {
    this.#plan = plan;
    this.#request = request;
    this.#context = context;
    this.#buckets = buckets;
    this.#listing = listing;
    this.#rebuilt = rebuiltFields(plan.fields, listing);
    this.#fields = this.#rebuilt.all;
    this.#filter = and(plan.logs.filter, missingLineRows(context.naming));
  }

  /** @param asked context that answers without waiting for the current stream listing */
  async begin(asked: LeafContext): Promise<Begun | Declined> {
    const context = this.#context;
    const { selection, fields } = this.#plan;
    const { range } = this.#buckets;
    const sources: LabelSourceFields = { all: this.#fields, levels: [], hasOtlp: false };
    const pacer = new Pacer(this.#request.signal);
    const labels = groupByLabels(fields.names, this.#listing, sources, context.naming);
    const byLabels = await atPace(labels, pacer);
    const profileRequest = {
      ...{ ...context, selection, columns: byLabels.streamKeyColumns },
      misparsedRows: rewrittenRows(this.#fields),
    };
    // A profile shows whether there are stored lines, but it is slower.
    const refusal = context.profiler.knows(profileRequest)
      ? undefined
      : await declineLines(selection, range, asked);
    if (refusal !== undefined) return refusal;
    const expected = context.profiler.lastKnown(profileRequest);
    const around = groupAroundOverrides(byLabels, expected, this.#listing, sources);
    const grouping = { ...(await atPace(around, pacer)), outcomes: this.#outcomes() };
    const counted: CountRequest = {
      ...{ upstream: context.upstream, rows: [{ filter: this.#filter, grouping }] },
      ...{ buckets: this.#buckets, maxGroups: Infinity },
      push: { ...fields, stageNames: new Set<string>(), looksAtLines: false },
      ...{ memory: context.limits.memory, signal: this.#request.signal },
    };
    const groups = countGroups(counted);
    // Handled, because the count may fail before it is awaited.
    groups.catch(() => undefined);
    return { counting: this, profileRequest, expected, groups, request: counted };
  }

  /** @param listing the current streams */
  async count(
    { profileRequest, expected, groups: asked, request }: Begun,
    listing: ListedRange,
  ): Promise<Counted | Declined> {
    const context = this.#context;
    const { selection, fields } = this.#plan;
    const { range } = this.#buckets;
    const [groups, profile] = await Promise.all([asked, context.profiler.of(profileRequest, range, listing)]);
    if (isDeclined(groups)) return groups;
    if (profile.hasLines) return rememberLines(selection, context);
    if (profile.misparsedRows > 0) return decline('rewritten-numbers');
    if (!isGroupingValid(profile, expected)) return decline('hidden-fields');
    if (await this.#hasEmptyLines(groups)) return decline('missing-lines');
    const { streams } = this.#listing;
    const { memory } = context.limits;
    const surplus =
      fields.measure === 'presence'
        ? []
        : await duplicateRows({ ...context, memory, filter: this.#filter, range, streams, profile });
    if (isDeclined(surplus)) return surplus;
    if (!fields.names.has(detectedLevelName)) return { groups, surplus, unread: undefined, rebuilt: [] };
    const { reader } = context;
    const isRead = (group: RowGroup): boolean => !isLevelShown(group, this.#rebuilt, reader);
    const counted = withoutRead(groups, this.#rebuilt.levels, isRead);
    if (isDeclined(counted)) return counted;
    const byLines = {
      ...{ ...request, lines: everything, rebuilt: this.#rebuilt, listing: this.#listing },
      readsLevels: true,
    };
    return {
      ...counted,
      surplus,
      ...(await countUnread(counted.unread, byLines, { ...context, selection })),
    };
  }

  /** Replaces the values of fields that are only compared. */
  #outcomes(): readonly LogsqlPipe[] {
    const { names, stages } = this.#plan.fields;
    const compared = comparedLabels(this.#plan, this.#plan.fields);
    const beside = this.#rebuilt.all.filter((field) => !this.#rebuilt.levels.includes(field));
    return fieldsByOutcome({ fields: beside, names, stages, compared }, this.#listing, this.#context.naming);
  }

  /** True if there may be rows without any field of their own. Their line is empty, which is not JSON. */
  async #hasEmptyLines(groups: readonly RowGroup[]): Promise<boolean> {
    const mayBe = groups.some((group) => mayBeEmpty(group, this.#rebuilt, this.#context.reader));
    if (!this.#plan.fields.readsJson || !mayBe) return false;
    return mayHaveEmptyLines(this.#filter, this.#listing, this.#buckets.range, this.#context);
  }

  /** A group with the line that its fields make. */
  #withLine(group: RowGroup): RowGroup {
    const ofStream = this.#context.reader.stream(group.stream).fields;
    const own = this.#fields.filter((name) => !ofStream.has(name));
    return { ...group, representative: { line: rebuiltLineOf(own, group.get) } };
  }

  /** Adds the counts, and the rows that had to be read. */
  async addTo(
    into: LeafEngine,
    { groups, rebuilt, surplus, unread }: Counted,
    selectedRows: number,
  ): Promise<void> {
    const { context, request, plan } = { context: this.#context, request: this.#request, plan: this.#plan };
    const { range, pushed } = plan;
    const extract = compileExtractor({ ...range, op: countLines }, pushed);
    const pacer = new Pacer(request.signal);
    const evaluator = new GroupEvaluator(context.reader, []);
    for (const group of [...groups.map((each) => this.#withLine(each)), ...rebuilt]) {
      const pause = pacer.due();
      if (pause !== undefined) await pause;
      evaluator.add(group, extract, into.engine);
      into.checkSeries();
    }
    const ofRow = compileExtractor(range, pushed);
    for (const row of surplus) {
      const entry = pipelineEntry(context.reader.read(row));
      const sample = ofRow(entry);
      if (sample !== undefined) into.engine.add(sample.labels, entry.timestampNs, -sample.value);
    }
    if (unread !== undefined) await this.#readRows(into, unread, selectedRows);
  }

  /** Reads rows including repeated ones, which are subtracted as surplus rows. */
  async #readRows(
    { engine, checkSeries }: LeafEngine,
    unread: LogsqlFilter,
    selectedRows: number,
  ): Promise<void> {
    const { context, plan } = { context: this.#context, plan: this.#plan };
    const { signal } = this.#request;
    const rows = {
      ...{ filter: and(this.#filter, unread), selection: and(plan.selection, unread) },
      ...{ columns: undefined, range: this.#buckets.range, repeats: 'nowhere' as const },
      selectedRows,
    };
    const extract = sampleEvaluator(plan.range, plan.pushed, { workers: context.workers, signal });
    const pacer = new LinePacer(signal);
    for await (const batch of readEntries(rows, context)) {
      await addEntries(engine, extract, batch, pacer);
      checkSeries();
    }
  }
}
