import { countLines } from '../../../logql/functions/range/index.js';
import type { LeafEngine } from '../../../logql/metric/index.js';
import { eachAtPace, Pacer } from '../../../base/pace/steps.js';
import type { Stage } from '../../../logql/ast.js';
import { descriptorOf } from '../../../logql/stages/index.js';
import { compileExtractor, type SampleExtractor } from '../../../logql/pipeline/extractor.js';
import { withStages } from '../../../logql/pipeline/output.js';
import type { FieldRef, LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import {
  correctCounts,
  countsByLevel,
  isExpectationMet,
  rowsByCertainty,
  type CertainRows,
} from './uncertain-rows.js';
import type { StreamTimes } from './repeated-times.js';
import { and, fieldName, not } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import type { LeafPush } from '../../plan/columns.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import { decline, type Declined, isDeclined } from '../cost.js';
import { addRows, type RowRequest } from '../rows.js';
import {
  addGroup,
  countByDigest,
  countGroups,
  countManyGroups,
  type CountRequest,
  type DigestCount,
  maxGroupsOf,
  type RowGroup,
  sumOf,
} from './counting.js';
import {
  denseRows,
  duplicatesOf,
  noDuplicates,
  rowPartsOf,
  subtractDuplicates,
  type DenseRows,
  type Duplicates,
} from './duplicates.js';
import type { SelectionProfile } from './profile.js';
import { countUnread, rebuiltRequest } from './rebuilt-lines.js';
import type { Counted, InspectedProfile, Remainder, StatisticsInput } from './statistics-input.js';
import {
  besideLines,
  noStoredLines,
  rebuiltFields,
  rowsWithoutLine,
  withoutUnshown,
} from './rebuilt-rows.js';
import {
  isGroupingValid,
  type LabelSourceFields,
  readsLevels,
  streamsWithoutLevel,
  undecidedRows,
  type UndecidedRows,
} from './grouping.js';
import { cheapestDigest, type InspectedLines, type LineDigest, withLevels } from './line-digests.js';

/** Computes the statistics of one leaf and adds them to an engine. */
export class Statistics {
  readonly #parts: StatisticsInput;
  /** Matches the rows to count, including all filters of the backend. */
  readonly #filter: LogsqlFilter;
  /** Matches rows without a line, if there are some that groups do not determine either. */
  readonly #missing: LogsqlFilter | undefined;
  /** True if the stream of a row alone decides whether and how it counts. */
  readonly #isDecidedByStream: boolean;
  /** True if counts of uncertain rows can be corrected here. */
  readonly #corrects: boolean;
  /** Rows that the backend deduplicates. */
  readonly #dense: DenseRows | undefined;
  readonly #ofRow: SampleExtractor;
  readonly #ofGroup: SampleExtractor;
  readonly #readsLevels: boolean;

  constructor(parts: StatisticsInput) {
    const { plan, context, sources, profile } = parts;
    const { range, pushed } = plan;
    const { residual, recheck } = plan.logs;
    const { naming } = context;
    this.#parts = parts;
    this.#readsLevels = readsLevels(plan.push, naming);
    const isCountedByStream = (stages: readonly Stage[]): boolean =>
      countsByStream(plan.push, stages, sources, this.#readsLevels || parts.lines !== undefined);
    this.#isDecidedByStream = isCountedByStream(range.range.query.stages);
    this.#dense = this.#denseOf(profile);
    this.#corrects = this.#dense === undefined && parts.lines === undefined && countsByLevel(parts);
    const isMissingSeen = profile.missing > 0 && !isCountedByStream([...residual, ...recheck]);
    this.#missing = isMissingSeen ? missingLineRows(naming) : undefined;
    this.#filter = this.#missing === undefined ? plan.logs.filter : and(plan.logs.filter, not(this.#missing));
    this.#ofRow = compileExtractor(range, pushed);
    this.#ofGroup = compileExtractor(withStages({ ...range, op: countLines }, plan.push.stages), pushed);
  }

  /** True if the backend must deduplicate some rows, because many of them repeat. */
  get distinguishesRows(): boolean {
    return this.#dense !== undefined;
  }

  /** True if this profile would have resulted in the same statistics. */
  isRight(now: InspectedProfile): boolean {
    const { missing, misparsedRows, hasLines } = now;
    const { profile } = this.#parts;
    // The rows to deduplicate depend on times, and thus on the range.
    if (this.distinguishesRows || this.#denseOf(now) !== undefined) return false;
    const isSame =
      isGroupingValid(now, profile) && profile.missing > 0 === missing > 0 && (profile.hasLines || !hasLines);
    return isSame && isExpectationMet(this.#linesOf(profile), this.#linesOf(now)) && misparsedRows === 0;
  }

  /** Makes the calls to the backend. */
  async count(): Promise<readonly Counted[] | Declined> {
    const { profile, streamListing } = this.#parts;
    const counted = await Promise.all(
      rowsByCertainty(this.#linesOf(profile), streamListing).map(async (rows) => {
        const some = await this.#count(rows);
        return isDeclined(some) ? some : this.#countUnread(some);
      }),
    );
    return counted.find(isDeclined) ?? counted.flatMap((one) => (isDeclined(one) ? [] : [one]));
  }

  /** Counts rows without a line by rebuilt lines, if possible. */
  async #countUnread(counted: Counted): Promise<Counted> {
    const { plan, context } = this.#parts;
    const { unread, rows } = counted;
    const all = this.#countRequest(and(plan.logs.filter, rows.within));
    const asked = this.distinguishesRows ? undefined : rebuiltRequest(this.#parts, all, this.#readsLevels);
    return { ...counted, ...(await countUnread(unread, asked, { ...plan, ...context })) };
  }

  /** Knowledge about the lines; rows of uncertain streams cannot be counted by the cheaper digest. */
  #linesOf({ uncertainStreams, uncorrectedStreams, levelless }: InspectedProfile): InspectedLines {
    return { uncertainStreams: this.#corrects ? uncorrectedStreams : uncertainStreams, levelless };
  }

  async #count(rows: CertainRows): Promise<Counted | Declined> {
    const { streamListing, lines } = this.#parts;
    const digest = lines && cheapestDigest(lines.digest, rows);
    const withoutLevel = streamsWithoutLevel(streamListing.streams).length;
    const areUndecided = this.#readsLevels && withoutLevel > 0;
    const { filter: undecided, areAll } = this.#undecidedRows();
    const together = await this.#countBesideLines(digest, areUndecided, rows);
    if (together !== undefined) return together;
    // Filters that read no lines come first, so that the backend reads the lines of fewer rows.
    const filter = and(this.#filter, rows.within);
    const decided = areUndecided ? and(not(undecided), filter) : filter;
    const areAllUndecided = areUndecided && areAll && withoutLevel === streamListing.streams.size;
    const [counted, others] = await Promise.all([
      areAllUndecided ? { groups: [], undecided: undefined } : this.#countGroups(digest, decided),
      areUndecided ? this.#countByDigest(digest, rows) : ('none' as const),
    ]);
    if (isDeclined(counted)) return counted;
    const unrepresented = counted.undecided && { filter: decided, pipes: counted.undecided };
    return { groups: counted.groups, unrepresented, others, unread: this.#missing, rows };
  }

  /** Rows that repeat an earlier one. */
  async duplicates(profile: SelectionProfile): Promise<Duplicates | Declined> {
    const { plan, context, buckets, streamListing } = this.#parts;
    if (plan.push.measure === 'presence') return noDuplicates;
    const { range } = buckets;
    const { streams } = streamListing;
    const asked = { ...context, filter: plan.logs.filter, range, streams, profile };
    const leavesDense = this.distinguishesRows;
    return duplicatesOf({ ...asked, leavesDense }, this.#timesToSubtract(profile));
  }

  /** The times of surplus rows, if their streams alone decide how they count. */
  #timesToSubtract({ surplusAt }: SelectionProfile): readonly StreamTimes[] | undefined {
    return this.#isDecidedByStream ? surplusAt : undefined;
  }

  /** The rows that the backend must deduplicate. */
  #denseOf(profile: SelectionProfile): DenseRows | undefined {
    const { plan, context } = this.#parts;
    if (plan.push.measure === 'presence' || this.#timesToSubtract(profile) !== undefined) return undefined;
    return denseRows(profile, context.reader);
  }

  /** Adds the counts and the remainder to the engine. */
  async addTo(
    into: LeafEngine,
    counted: readonly Counted[],
    { duplicates, profile, selectedRows }: Remainder,
  ): Promise<void> {
    const { context, sources } = this.#parts;
    const pacer = new Pacer(context.signal);
    for (const { groups, others, rebuilt = [] } of counted) {
      const byLine = typeof others === 'object' ? others.groups : [];
      await this.#addGroups([...groups, ...byLine], sources.all, into, pacer);
      // Rebuilt lines contain all fields.
      await this.#addGroups(rebuilt, [], into, pacer);
    }
    const ofRows = { reader: context.reader, extract: this.#ofRow, pacer };
    await subtractDuplicates(into.engine, duplicates, ofRows);
    if (
      this.#corrects &&
      counted.some(({ rows, others }) => rows.uncertainStreams && typeof others === 'object')
    )
      await correctCounts(into.engine, profile, ofRows);
    for (const some of counted) await this.#addOthers(into, some, selectedRows);
  }

  /** Reads the rows that were not counted. */
  async #addOthers(
    into: LeafEngine,
    { unrepresented, others, unread, rows: { within } }: Counted,
    selectedRows: number,
  ): Promise<void> {
    const { plan, buckets, profile } = this.#parts;
    if (unread !== undefined)
      await this.#addUncounted(into, rowsWithoutLine(plan, buckets.range, profile, and(unread, within)));
    if (unrepresented !== undefined)
      await this.#addUncounted(into, {
        ...unrepresented,
        ...{ columns: this.#columnsToRead(), selection: plan.selection, selectedRows },
      });
    if (others === 'rows') await this.#addUndecided(into, selectedRows, [], within);
    else if (others !== 'none') {
      const { undecided } = others;
      if (undecided !== undefined) await this.#addUndecided(into, selectedRows, undecided, within);
    }
  }

  async #addGroups(
    groups: readonly RowGroup[],
    fields: readonly string[],
    { engine, checkSeries }: LeafEngine,
    pacer: Pacer,
  ): Promise<void> {
    const { context, plan } = this.#parts;
    const isBytes = plan.push.measure === 'bytes';
    const evaluated = { reader: context.reader, extract: this.#ofGroup, fields };
    await eachAtPace(groups, pacer, (group) => {
      const sum = sumOf(group);
      context.counts.counted(isBytes ? 0 : sum, isBytes ? sum : 0);
      addGroup(group, evaluated, engine);
      checkSeries();
    });
  }

  /** @param digest distinguishes lines, if they matter */
  async #countGroups(digest: LineDigest | undefined, filter: LogsqlFilter): Promise<DigestCount | Declined> {
    const { plan, hasRowLabels } = this.#parts;
    const asked = this.#countRequest(filter);
    if (digest !== undefined) return countByDigest(asked, digest);
    const mayBeMany = plan.push.names === 'all' || hasRowLabels;
    const groups = await (mayBeMany ? countManyGroups(asked) : countGroups(asked));
    return isDeclined(groups) ? groups : { groups, undecided: undefined };
  }

  /** Counts all rows in one call, by fields and lines; undefined if that is impossible, or if no row lacks a line. */
  async #countBesideLines(
    lines: LineDigest | undefined,
    areUndecided: boolean,
    rows: CertainRows,
  ): Promise<Counted | undefined> {
    const { plan, context, streamListing, grouping, levels, profile } = this.#parts;
    const { fields, logs } = plan;
    const knowsLevels = !areUndecided || !profile.hasLines || (levels !== undefined && !isDeclined(levels));
    if (this.#missing === undefined || fields === undefined || !knowsLevels) return undefined;
    // Fields do not show whether a line passes its filters.
    if (logs.recheck.length > 0) return undefined;
    const rebuilt = rebuiltFields(fields, streamListing);
    if (!rebuilt.all.every((field) => grouping.columns.includes(field))) return undefined;
    const byLevel = areUndecided && levels && !isDeclined(levels) ? cheapestDigest(levels, rows) : undefined;
    const digest = profile.hasLines
      ? besideLines(lines, byLevel, this.#undecidedRows().filter, context.naming)
      : noStoredLines;
    const asked = this.#countRequest(and(logs.filter, rows.within));
    const counted = await this.#unlessDeclined('beside lines', async () => {
      const all = await countByDigest(asked, digest);
      if (isDeclined(all)) return all;
      // Only rows without a stored level would be read.
      if (lines !== undefined && all.undecided !== undefined) return decline('no-matching-line');
      const beside = withoutUnshown(all.groups, fields, rebuilt, context);
      return isDeclined(beside) ? beside : { ...beside, rows, others: { ...all, groups: [] } };
    });
    return isDeclined(counted) ? undefined : counted;
  }

  /** Counts rows by class, for groups with the level in the line. */
  async #countByDigest(lines: LineDigest | undefined, rows: CertainRows): Promise<DigestCount | 'rows'> {
    const { levels } = this.#parts;
    const { filter, emptyFields } = this.#undecidedRows();
    if (rows.areFew || levels === undefined || isDeclined(levels)) return 'rows';
    const byLevel = cheapestDigest(levels, rows);
    const digest = lines === undefined ? byLevel : withLevels(lines, byLevel);
    const kind = `shapes ${this.#parts.lines?.question.key ?? ''}`;
    const asked = this.#countRequest(and(this.#filter, filter, rows.within), emptyFields);
    const counted = await this.#unlessDeclined(kind, () => countByDigest(asked, digest));
    return isDeclined(counted) ? 'rows' : counted;
  }

  /** @param emptyFields columns that are empty in all matching rows, which need not be grouped by them */
  #countRequest(filter: LogsqlFilter, emptyFields?: ReadonlySet<string>): CountRequest {
    const { plan, request, context, buckets, hasRowLabels } = this.#parts;
    const maxGroups = maxGroupsOf(plan.push, request, hasRowLabels);
    const columns = this.#parts.grouping.columns.filter((name) => emptyFields?.has(name) !== true);
    const grouping = { ...this.#parts.grouping, columns };
    const rows = rowPartsOf(filter, this.#dense).map((part) => ({ ...part, grouping }));
    return { context, rows, push: plan.push, buckets, maxGroups };
  }

  /** Skips a count that recently had too many groups. */
  #unlessDeclined<Result extends object>(
    kind: string,
    ask: () => Promise<Result | Declined>,
  ): Promise<Result | Declined> {
    const { context, plan, grouping } = this.#parts;
    return context.declines.unless([kind, grouping.columns, printFilter(plan.selection)], ask);
  }

  #undecidedRows(): UndecidedRows {
    const { streamListing, sources } = this.#parts;
    return undecidedRows(streamListing, sources);
  }

  /** Reads the rows that may have their level in the line. */
  async #addUndecided(
    into: LeafEngine,
    selectedRows: number,
    pipes: readonly LogsqlPipe[],
    within: LogsqlFilter,
  ): Promise<void> {
    const { plan } = this.#parts;
    const { filter, selection } = this.#undecidedRows();
    await this.#addUncounted(into, {
      filter: and(this.#filter, filter, within),
      selection: and(plan.selection, selection, within),
      columns: this.#columnsToRead(),
      ...{ pipes, selectedRows },
    });
  }

  #columnsToRead(): readonly FieldRef[] {
    return ['_time', '_stream', '_msg', ...this.#parts.sources.all].map(fieldName);
  }

  /** Reads these rows including repeated ones, which are subtracted as duplicates. */
  async #addUncounted(into: LeafEngine, rows: Omit<RowRequest, 'range'>): Promise<void> {
    const { request, buckets, context } = this.#parts;
    const add = (some: LogsqlFilter, how: Partial<RowRequest>): Promise<void> => {
      const [filter, selection] = [and(rows.filter, some), and(rows.selection, some)];
      return addRows(into, { ...rows, filter, selection, range: buckets.range, ...how }, request, context);
    };
    const others = this.#dense === undefined ? and() : not(this.#dense.filter);
    await add(others, { repeats: 'nowhere' });
    if (this.#dense !== undefined) await add(this.#dense.filter, { columns: undefined, repeats: 'anywhere' });
  }
}

/** True if the stream of a row decides how it counts behind these stages, with and without a line: it determines the labels, and nothing reads lines. */
function countsByStream(
  { measure }: Pick<LeafPush, 'measure'>,
  stages: readonly Stage[],
  { all: sources }: Pick<LabelSourceFields, 'all'>,
  readsLines: boolean,
): boolean {
  const seesLines = measure === 'bytes' || readsLines || sources.length > 0;
  return !seesLines && stages.every((stage) => descriptorOf(stage).groupNames(stage) !== undefined);
}
