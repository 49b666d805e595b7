import type { Clock } from '../../../base/clock.js';
import type { Memory } from '../../../base/memory/byte-lru.js';
import { isWithin } from '../../../base/order.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { GroupKey, LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import {
  and,
  formatInto,
  freeName,
  or,
  query,
  timeBucket,
  timeRange,
} from '../../../victoria/logsql/build.js';
import { parseRowTime, type RowReader } from '../../../victoria/names/row-reader.js';
import {
  columnOf,
  type BackendRow,
  type BackendValue,
  type Upstream,
} from '../../../victoria/upstream/types.js';
import { isIn, partLengthOf, rowsOfStreams, segmentsAround, segmentsUntil } from './time-segments.js';
import type { TimeSegment } from './time-segments.js';
import { addChecksums, type ListedRange, type StreamChecksums } from './stream-listing.js';

export interface SegmentFinding {
  /** Checksum of the number of rows per stream in the segment. */
  readonly checksum: bigint;
}

/** Rows to inspect. */
export interface InspectionTarget {
  /** Identifies the kind of finding, and the selection. */
  readonly key: string;
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly selection: LogsqlFilter;
}

/** Evidence that findings still hold. */
export interface Proofs {
  readonly checksums: StreamChecksums;
  readonly clock: Pick<Clock, 'nowNs'>;
}

export const keptMs = 86_400_000;
/**
 * Rows that arrive between the listing of a range and an inspection could hide an equal number of rows added to known segments. If rows of
 * this age are inspected, the known segments are therefore listed separately. Older rows would have to arrive within these milliseconds, in
 * equal numbers in the same streams, which is too unlikely to justify another listing per query.
 */
const arrivingNs = 3_600_000_000_000n;
/** Parallel inspections, in addition to the statistics themselves. */
const parallel = 4;
/**
 * Maximum number of rows inspected in one call. The backend reads whole blocks, which may contain hours of a stream, for a segment of
 * minutes, so one call for many segments takes little longer than a call for one.
 */
const maxRows = 1_000_000;
/** Maximum number of segments of different lengths per call: their conditions take up to a quarter of a query's length. */
const maxOfRun = 16;
/** Maximum number of conditions that the backend checks to distinguish such segments: one per row and segment. */
const maxChecks = 5_000_000;

/** A segment with the key of its finding. */
interface KeyedSegment extends TimeSegment {
  readonly key: string;
}

/** Distinguishes the rows of the segments of a run before they are grouped. */
export interface SegmentMarker {
  readonly pipes: readonly LogsqlPipe[];
  readonly keys: readonly GroupKey[];
  /** Index of the segment of a group. */
  readonly indexOf: (group: BackendRow) => number;
}

/** Segments that are inspected in one call, from old to new; there may be gaps between them. */
export class SegmentRun {
  readonly segments: readonly KeyedSegment[];
  /** The range from the start of the first segment to the end of the last one. */
  readonly range: TimeRange;

  constructor(first: KeyedSegment, others: readonly KeyedSegment[] = []) {
    this.segments = [first, ...others];
    this.range = { startNs: first.startNs, endNs: (others.at(-1) ?? first).endNs };
  }

  /** The total length of the segments. */
  get lengthNs(): bigint {
    return lengthOf(this.segments);
  }

  /** Matches rows of the range that are in one of the segments. */
  get within(): LogsqlFilter {
    const { segments } = this;
    const hasGaps = segments.some(({ startNs }, at) => startNs !== (segments[at - 1]?.endNs ?? startNs));
    return hasGaps ? or(...segments.map(timeRange)) : and();
  }

  /** @param taken names that the segment's column must not have */
  marker(taken: readonly string[]): SegmentMarker {
    const { segments } = this;
    if (segments.length === 1) return { pipes: [], keys: [], indexOf: () => 0 };
    const lengthNs = evenLengthOf(segments);
    if (lengthNs !== undefined) {
      const keys = [timeBucket(lengthNs, -(this.range.startNs % lengthNs))];
      return { pipes: [], keys, indexOf: ({ _time = '' }) => this.indexOf(parseRowTime(_time)) };
    }
    const column = freeName('stretch', taken);
    const pipes = segments.map((segment, index) => formatInto(column, String(index), timeRange(segment)));
    return { pipes, keys: [{ field: column }], indexOf: (group) => Number(columnOf(group, column) ?? NaN) };
  }

  /** The item, of a list with one item per segment, for the segment of a row. */
  of<Item>(items: readonly Item[], { _time = '' }: BackendRow): Item {
    return itemAt(items, this.segments.length > 1 ? this.indexOf(parseRowTime(_time)) : 0);
  }

  /** Index of the segment that contains this time; -1 in a gap. */
  indexOf(timeNs: bigint): number {
    return this.segments.findIndex((segment) => isIn(segment, timeNs));
  }
}

/** The length of segments that are all equally long; otherwise undefined. */
function evenLengthOf(segments: readonly TimeRange[]): bigint | undefined {
  const [lengthNs, ...others] = new Set(segments.map((segment) => lengthOf([segment])));
  return others.length === 0 ? lengthNs : undefined;
}

export function itemAt<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new Error('the backend sent a row outside the requested time ranges');
  return item;
}

/**
 * Remembers the findings about a selection by whole time segment. A finding stays valid while each stream has the same number of rows in
 * the segment, which a single listing shows.
 */
export class SegmentFindings<Finding extends SegmentFinding> {
  readonly #memory: Memory<Finding>;
  readonly #bytesOf: (finding: Finding) => number;
  readonly #checksums: StreamChecksums;
  readonly #clock: Pick<Clock, 'nowNs'>;

  constructor(memory: Memory<Finding>, bytesOf: (finding: Finding) => number, { checksums, clock }: Proofs) {
    this.#memory = memory;
    this.#bytesOf = bytesOf;
    this.#checksums = checksums;
    this.#clock = clock;
  }

  /**
   * The findings of all segments of a range that comes from `wholeSegments`, in any order.
   * @param inspect makes the missing ones, one for each segment, in their order
   * @param skips true to skip segments with this number of rows, which leaves the findings incomplete
   */
  async of(
    target: InspectionTarget,
    { range, listed }: ListedRange,
    inspect: (run: SegmentRun) => Promise<readonly Finding[]>,
    skips: (rows: number) => boolean,
  ): Promise<{ readonly found: readonly Finding[]; readonly isIncomplete: boolean }> {
    const segments = segmentsUntil(range, this.#clock.nowNs()).map((segment) => ({
      ...segment,
      key: keyOf(target, segment),
    }));
    const { known, unknown } = this.#split(target, segments);
    const found: Finding[] = [];
    const inspectAll = async (some: readonly KeyedSegment[]): Promise<'inspected' | 'skipped'> => {
      if (some.length > 0 && skips(rowsIn(some, range, listed))) return 'skipped';
      // If united queries still take several calls, one call per segment is as good.
      const isUnited = target.upstream.unites === true;
      const runs = isUnited ? runsOf(some, range, listed) : some.map((segment) => new SegmentRun(segment));
      const queue = runs.values();
      const worker = async (): Promise<void> => {
        for (const run of queue) {
          const findings = await inspect(run);
          found.push(...findings);
          for (const [index, finding] of findings.entries()) this.#remember(run.segments[index], finding);
        }
      };
      await Promise.all(Array.from({ length: parallel }, worker));
      return 'inspected';
    };
    const all = { range, listed, checksums: this.#checksums };
    const arrivalNs = this.#clock.nowNs() - arrivingNs;
    const mayArrive = unknown.some(({ endNs }) => endNs > arrivalNs);
    const reachesBeyond = known.some(({ segment }) => !isWithin(segment, range));
    const [atUnknown, changedNow] = await Promise.all([
      inspectAll(unknown),
      mayArrive || reachesBeyond ? changedOf(target, known, all) : undefined,
    ]);
    const checksums = found.map((one) => one.checksum);
    const changed =
      changedNow ??
      (atUnknown === 'skipped'
        ? await changedOf(target, known, all)
        : await changedSince(target, known, checksums, all));
    for (const one of known) if (!changed.has(one.segment)) found.push(...one.findings);
    const atChanged = await inspectAll([...changed]);
    return { found, isIncomplete: atUnknown === 'skipped' || atChanged === 'skipped' };
  }

  /** Segments with remembered findings, and all others. A segment that is not remembered itself may be part of a longer one that is. */
  #split(
    target: InspectionTarget,
    segments: readonly KeyedSegment[],
  ): { readonly known: readonly KnownSegment<Finding>[]; readonly unknown: readonly KeyedSegment[] } {
    const known: KnownSegment<Finding>[] = [];
    const unknown: KeyedSegment[] = [];
    for (const segment of segments) {
      const last = known.at(-1);
      if (last !== undefined && isWithin(segment, last.segment)) continue;
      const findings = this.#known(target, segment);
      const one = findings === undefined ? this.#around(target, segment) : { segment, findings };
      if (one === undefined) {
        unknown.push(segment);
        continue;
      }
      for (
        let before = last;
        before !== undefined && isWithin(before.segment, one.segment);
        before = known.at(-1)
      )
        known.pop();
      known.push(one);
    }
    return { known, unknown };
  }

  /** The remembered findings of a longer segment that contains this one. */
  #around(target: InspectionTarget, segment: KeyedSegment): KnownSegment<Finding> | undefined {
    for (const around of segmentsAround(segment)) {
      const key = keyOf(target, around);
      const finding = this.#memory.get(key);
      if (finding !== undefined) return { segment: { ...around, key }, findings: [finding] };
    }
    return undefined;
  }

  /** Remembered findings of a segment, or of all of its parts. */
  #known(target: InspectionTarget, segment: KeyedSegment): readonly Finding[] | undefined {
    const found = this.#memory.get(segment.key);
    if (found !== undefined) return [found];
    const partNs = partLengthOf(segment);
    if (!segment.isWhole || partNs === undefined) return undefined;
    const findings: Finding[] = [];
    for (let { startNs } = segment; startNs < segment.endNs; startNs += partNs) {
      const part = { startNs, endNs: startNs + partNs, isWhole: true };
      const known = this.#known(target, { ...part, key: keyOf(target, part) });
      if (known === undefined) return undefined;
      findings.push(...known);
    }
    return findings;
  }

  #remember(segment: KeyedSegment | undefined, finding: Finding): void {
    if (segment?.isWhole === true) this.#memory.set(segment.key, finding, this.#bytesOf(finding), keptMs);
  }
}

function lengthOf(segments: readonly TimeRange[]): bigint {
  return segments.reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0n);
}

/** Expected number of rows of segments, assuming that rows are spread evenly over the range. */
function rowsIn(
  segments: readonly TimeRange[],
  { startNs, endNs }: TimeRange,
  listed: readonly BackendValue[],
): number {
  return (rowsOfStreams(listed) * Number(lengthOf(segments))) / Number(endNs - startNs);
}

/** Joins segments into runs that probably do not have too many rows; of many rows, only equally long segments are easy to distinguish. */
function runsOf(
  segments: readonly KeyedSegment[],
  range: TimeRange,
  listed: readonly BackendValue[],
): readonly SegmentRun[] {
  const rows = rowsOfStreams(listed);
  const spanNs = range.endNs - range.startNs;
  const mostNs = rows <= maxRows ? spanNs : (spanNs * BigInt(maxRows)) / BigInt(rows);
  if (segments.length <= maxOfRun && rowsIn(segments, range, listed) * segments.length <= maxChecks)
    return joinedInto(segments, maxOfRun, mostNs);
  const isLongest = (one: TimeRange): boolean =>
    segments.every((other) => lengthOf([other]) <= lengthOf([one]));
  const longest = segments.filter(isLongest);
  const others = segments.filter((one) => !longest.includes(one));
  return [...joinedInto(longest, Infinity, mostNs), ...joinedInto(others, maxOfRun, mostNs)];
}

function joinedInto(segments: readonly KeyedSegment[], most: number, mostNs: bigint): readonly SegmentRun[] {
  const runs: { readonly segments: [first: KeyedSegment, ...others: KeyedSegment[]]; lengthNs: bigint }[] =
    [];
  for (const segment of segments) {
    const lengthNs = segment.endNs - segment.startNs;
    const run = runs.at(-1);
    if (run === undefined || run.lengthNs + lengthNs > mostNs || run.segments.length >= most)
      runs.push({ segments: [segment], lengthNs });
    else {
      run.segments.push(segment);
      run.lengthNs += lengthNs;
    }
  }
  return runs.map(({ segments: [first, ...others] }) => new SegmentRun(first, others));
}

interface KnownSegment<Finding extends SegmentFinding> {
  readonly segment: KeyedSegment;
  /** Findings of the segment, or of its parts. */
  readonly findings: readonly Finding[];
}

interface Listed extends ListedRange {
  readonly checksums: StreamChecksums;
}

/**
 * The segments in which the row counts of streams have changed. All other segments have just been inspected, so if all counts add up to
 * those of the whole range, none has changed.
 */
async function changedSince(
  target: InspectionTarget,
  known: readonly KnownSegment<SegmentFinding>[],
  checksums: readonly bigint[],
  whole: Listed,
): Promise<ReadonlySet<KeyedSegment>> {
  if (known.length === 0) return new Set();
  const checksum = await whole.checksums.ofListing(target.reader, whole.listed);
  const sum = addChecksums([...checksums, ...known.flatMap(checksumsOf)]);
  return checksum === sum ? new Set() : changedOf(target, known, whole);
}

function checksumsOf({ findings }: KnownSegment<SegmentFinding>): readonly bigint[] {
  return findings.map(({ checksum }) => checksum);
}

/** The segments in which the row counts of streams have changed. */
async function changedOf(
  target: InspectionTarget,
  known: readonly KnownSegment<SegmentFinding>[],
  whole: Listed,
): Promise<ReadonlySet<KeyedSegment>> {
  const runs: KnownSegment<SegmentFinding>[][] = [];
  for (const one of known) {
    const run = runs.at(-1);
    if (run?.at(-1)?.segment.endNs === one.segment.startNs) run.push(one);
    else runs.push([one]);
  }
  const changed = await Promise.all(runs.map((run) => changedIn(target, run, whole)));
  return new Set(changed.flat());
}

/** As `changedOf`, for consecutive segments: one listing proves that none has changed, further ones find those that have. */
async function changedIn(
  target: InspectionTarget,
  run: readonly KnownSegment<SegmentFinding>[],
  whole: Listed,
): Promise<readonly KeyedSegment[]> {
  const [first, last] = [run[0]?.segment, run.at(-1)?.segment];
  if (first === undefined || last === undefined) return [];
  const range = { startNs: first.startNs, endNs: last.endNs };
  const isAll = range.startNs === whole.range.startNs && range.endNs === whole.range.endNs;
  const { upstream, reader, selection } = target;
  const listed = isAll
    ? whole.listed
    : await upstream.list({ listing: 'streams', query: query(selection), range });
  const checksum = await whole.checksums.ofListing(reader, listed);
  if (checksum === addChecksums(run.flatMap(checksumsOf))) return [];
  if (run.length === 1) return [first];
  const middle = run.length >> 1;
  const halves = [run.slice(0, middle), run.slice(middle)];
  return (await Promise.all(halves.map((half) => changedIn(target, half, whole)))).flat();
}

function keyOf({ key }: InspectionTarget, { startNs, endNs }: TimeRange): string {
  return `${key} ${startNs}-${endNs}`;
}
