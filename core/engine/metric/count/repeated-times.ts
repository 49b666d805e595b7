import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import {
  and,
  compare,
  field,
  fields,
  freeName,
  limit,
  or,
  query,
  stats,
  statsFunction,
  timeBucket,
  where,
} from '../../../victoria/logsql/build.js';
import { timeOrder } from '../../../base/order.js';
import type { TimeRange } from '../../../base/time/range.js';
import { unboundedMemory } from '../../../base/memory/account.js';
import { parseRowTime, type RowReader } from '../../../victoria/names/row-reader.js';
import { columnOf, columnsOf, type BackendRow } from '../../../victoria/upstream/types.js';
import {
  repeatingStreams,
  streamsFilter,
  type ComparedRows,
  type RepeatingStreams,
  type SharedTimes,
} from '../../rows/repeating-streams.js';
import { Repeats } from '../repeats.js';
import { SegmentRun } from './segment-findings.js';

/** Maximum number of times that are listed; with repeats at more times, rows are compared while they are read. */
export const maxTimes = 2000;

/**
 * The times at which an entry was pushed to one of these streams more than once, and possibly some other times; undefined if there are too
 * many.
 */
export async function timesOfRepeats(
  compared: ComparedRows,
  shared: SharedTimes,
): Promise<readonly bigint[] | undefined> {
  const repeating = await repeatingStreams(compared, shared);
  return repeating === undefined ? [] : timesIn(compared, repeating);
}

/** As `timesOfRepeats`, for streams in which the backend has found repeats. */
export function timesIn(
  compared: Omit<ComparedRows, 'filter'>,
  { filter, fields: columns }: Pick<RepeatingStreams, 'filter' | 'fields'>,
): Promise<readonly bigint[] | undefined> {
  return timesWithSeveral({ ...compared, filter }, ['_msg', ...columns]);
}

/** The times that rows of one of these streams share, whether they are equal or not; undefined if there are too many. */
export function sharedTimes(
  compared: ComparedRows,
  { streams, where: within = streamsFilter(streams, compared.reader) }: SharedTimes,
): Promise<readonly bigint[] | undefined> {
  return timesWithSeveral({ ...compared, filter: and(compared.filter, within) }, ['_stream']);
}

/** Number of stretches of a range that are distinguished, and the maximum number of those that are searched. */
const stretches = 512n;
const maxSearched = 64;
/** Fewer rows are searched in the time that another call takes. */
const minRows = 20_000;

/**
 * The stretches of a range in which rows of a stream share a time: the backend counts times much sooner than it compares rows.
 * @param rows number of rows that would be searched
 * @returns undefined if a search of the stretches would not be much shorter
 */
export async function whenTimesAreShared(
  { upstream, range, filter }: ComparedRows,
  rows: number,
): Promise<readonly TimeRange[] | undefined> {
  if (rows < minRows) return undefined;
  const lengthNs = (range.endNs - range.startNs) / stretches + 1n;
  const pipes = [
    stats(
      [timeBucket(lengthNs), '_stream'],
      statsFunction('count', [], 'rows'),
      statsFunction('count_uniq_hash', ['_time'], 'different'),
    ),
    where(field('different', { kind: 'lt-field', other: 'rows' })),
    stats(['_time'], statsFunction('count', [], 'streams')),
    limit(maxSearched + 1),
  ];
  const starts: bigint[] = [];
  for await (const batch of upstream.rows({ query: query(filter, pipes), range }))
    for (const { _time = '' } of batch) starts.push(parseRowTime(_time));
  if (starts.length > maxSearched) return undefined;
  const found: TimeRange[] = [];
  for (const startNs of starts.sort(timeOrder)) {
    const last = found.at(-1);
    const isNext = last?.endNs === startNs;
    const range = { startNs: isNext ? last.startNs : startNs, endNs: startNs + lengthNs };
    if (isNext) found[found.length - 1] = range;
    else found.push(range);
  }
  return found;
}

/** Maximum number of single rows kept per segment, and their bytes; the total over all segments is bounded by their memory. */
export const maxKeptRows = 5000;
export const maxKeptBytes = 1 << 20;
/** Maximum number of times of surplus rows kept per segment. */
const maxKeptTimes = 100_000;

/** The times of a stream's surplus rows, each as often as there are such rows. */
export interface StreamTimes {
  /** Its `_stream` text. */
  readonly stream: string;
  readonly times: BigInt64Array;
}

/** The surplus rows, in one or several segments of time. */
export interface FoundSurplus {
  /** Rows that repeat another row of their stream; undefined if they are too many or too large. */
  readonly surplus: readonly BackendRow[] | undefined;
  /** Streams and times of the surplus rows, and possibly of some outside of the range; undefined if there are too many. */
  readonly surplusAt: readonly StreamTimes[] | undefined;
}

const unknownSurplus: FoundSurplus = { surplus: undefined, surplusAt: undefined };

/** Collects the surplus rows of a segment within the limits. */
class SurplusCollector {
  #rows: BackendRow[] | undefined = [];
  #bytes = 0;
  readonly #times = new Map<string, bigint[]>();
  #count = 0;
  readonly #areRowsKept: boolean;

  constructor(areRowsKept = true) {
    this.#areRowsKept = areRowsKept;
  }

  add(row: BackendRow, copies = 1): void {
    this.#bytes += bytesOfRow(row);
    if (!this.#areRowsKept || this.#bytes > maxKeptBytes) this.#rows = undefined;
    const { _stream = '{}', _time = '' } = row;
    const times = this.#times.get(_stream) ?? [];
    this.#times.set(_stream, times);
    const ns = parseRowTime(_time);
    for (let left = copies; left > 0 && this.#count <= maxKeptTimes; left -= 1) {
      this.#count += 1;
      times.push(ns);
      if (this.#count > maxKeptRows) this.#rows = undefined;
      this.#rows?.push(row);
    }
  }

  get found(): FoundSurplus {
    const times =
      this.#count > maxKeptTimes
        ? undefined
        : Array.from(this.#times, ([stream, all]) => ({ stream, times: BigInt64Array.from(all) }));
    return { surplus: this.#rows, surplusAt: times };
  }
}

/** Columns in which surplus rows equal another row, and only they. */
export interface ExactColumns {
  /** The stored fields, besides time, stream and line. */
  readonly fields: readonly string[];
  /** True if rows of the streams with the same time are always repeats, so that times decide. */
  readonly areTimesEnough: boolean;
}

/**
 * Lets the backend find the surplus rows of streams, in time segments where rows are the same entry if and only if all fields are equal.
 * @param sharing number of rows that share their time with another one, by segment
 */
export async function surplusRowsOf(
  compared: Pick<ComparedRows, 'upstream' | 'filter'>,
  run: SegmentRun,
  columns: ExactColumns,
  sharing: readonly number[],
): Promise<readonly FoundSurplus[]> {
  // Rows that are too many to keep are not sent.
  const areKept = !sharing.every((rows) => rows === 0 || rows > maxKeptRows);
  const found = await askSurplus(compared, run, columns, areKept);
  const { segments } = run;
  if (found !== undefined || segments.length === 1) return found ?? [unknownSurplus];
  const parts: FoundSurplus[] = [];
  for (const segment of segments) {
    const own = await askSurplus(compared, new SegmentRun(segment), columns, areKept);
    parts.push(own?.[0] ?? unknownSurplus);
  }
  return parts;
}

async function askSurplus(
  { upstream, filter }: Pick<ComparedRows, 'upstream' | 'filter'>,
  run: SegmentRun,
  { fields: exactFields, areTimesEnough }: ExactColumns,
  areKept: boolean,
): Promise<readonly FoundSurplus[] | undefined> {
  const inAll = areTimesEnough && !areKept ? [] : ['_msg', ...exactFields];
  const columns = ['_time', '_stream', ...inAll];
  const rows = freeName('rows', columns);
  const most = maxKeptRows * run.segments.length;
  const pipes = [
    stats(columns, statsFunction('count', [], rows)),
    where(compare(rows, '>', '1')),
    ...(areKept ? [] : [fields('_time', '_stream', rows)]),
    limit(most + 1),
  ];
  const parts = run.segments.map(() => new SurplusCollector(areKept));
  let count = 0;
  for await (const batch of upstream.rows({ query: query(filter, pipes), range: run.range })) {
    count += batch.length;
    if (count > most) return undefined;
    for (const row of batch) {
      const { [rows]: copies, ...surplus } = columnsOf(row);
      run.of(parts, row).add(surplus, Number(copies) - 1);
    }
  }
  return parts.map(({ found }) => found);
}

/** The times at which several rows have equal values in some columns, in any stream: a false match only costs a search. */
async function timesWithSeveral(
  { upstream, range, filter }: ComparedRows,
  columns: readonly string[],
): Promise<readonly bigint[] | undefined> {
  const rows = freeName('rows', columns);
  const pipes = [
    stats(['_time', ...columns], statsFunction('count', [], rows)),
    where(compare(rows, '>', '1')),
    fields('_time'),
    limit(maxTimes + 1),
  ];
  const times: bigint[] = [];
  for await (const batch of upstream.rows({ query: query(filter, pipes), range })) {
    for (const row of batch) times.push(parseRowTime(row._time ?? ''));
  }
  return times.length > maxTimes ? undefined : [...new Set(times)];
}

const timesPerCall = 200;
/** Number of consecutive times per filter: the backend skips a block that contains none of them at once. */
const timesTogether = 10;

function atTimes(times: readonly bigint[]): LogsqlFilter {
  const parts: LogsqlFilter[] = [];
  for (let at = 0; at < times.length; at += timesTogether) {
    const some = times.slice(at, at + timesTogether);
    const moments = some.map((time): LogsqlFilter => ({ kind: 'time', min: time, max: time }));
    const [min, max] = [some[0] ?? 0n, some.at(-1) ?? 0n];
    parts.push(some.length > 1 ? and({ kind: 'time', min, max }, or(...moments)) : or(...moments));
  }
  return or(...parts);
}

/** The rows at these times, with all their columns. */
export async function* rowsAt(
  { upstream, range, filter }: Pick<ComparedRows, 'upstream' | 'range' | 'filter'>,
  times: readonly bigint[],
  pipes: readonly LogsqlPipe[] = [],
): AsyncGenerator<BackendRow> {
  const sorted = [...times].sort((a, b) => (a < b ? -1 : 1));
  for (let at = 0; at < sorted.length; at += timesPerCall) {
    const moments = atTimes(sorted.slice(at, at + timesPerCall));
    for await (const batch of upstream.rows({ query: query(and(filter, moments), pipes), range }))
      yield* batch;
  }
}

/** Maximum number of bytes of rows per segment that are compared in advance. */
const maxComparedBytes = 1 << 20;

/** The surplus rows (rows that repeat another one) at the times of each segment; undefined if rows are too large to compare. */
export async function surplusRows(
  compared: ComparedRows,
  run: SegmentRun,
  times: readonly (readonly bigint[] | undefined)[],
): Promise<readonly FoundSurplus[]> {
  const parts = times.map((known) => new ComparedSegment(compared.reader, known !== undefined));
  const all = times.flatMap((known) => known ?? []);
  for await (const row of rowsAt({ ...compared, range: run.range }, all)) run.of(parts, row).add(row);
  return parts.map(({ found }) => found);
}

/** The rows of one segment. */
class ComparedSegment {
  readonly #reader: RowReader;
  readonly #repeats = new Repeats(unboundedMemory());
  #bytes = 0;
  #surplus: SurplusCollector | undefined;

  constructor(reader: RowReader, mayBeKept: boolean) {
    this.#reader = reader;
    this.#surplus = mayBeKept ? new SurplusCollector() : undefined;
  }

  add(row: BackendRow): void {
    if (this.#surplus === undefined) return;
    this.#bytes += bytesOfRow(row);
    if (this.#bytes > maxComparedBytes) this.#surplus = undefined;
    else if (this.#repeats.isRepeated(this.#reader.read(row))) this.#surplus.add(row);
    if (this.#surplus === undefined) this.#repeats.clear();
  }

  get found(): FoundSurplus {
    return this.#surplus?.found ?? unknownSurplus;
  }
}

/** The approximate size of a row in memory. */
export function bytesOfRow(row: BackendRow): number {
  let bytes = 0;
  for (const name of Object.keys(row)) bytes += name.length + 2 * (columnOf(row, name) ?? '').length + 40;
  return bytes;
}
