import type { MemoryAccount } from '../../base/memory/account.js';
import { logRowBytes, type Memory } from '../../base/memory/byte-lru.js';
import { timeOrder } from '../../base/order.js';
import { atPace, type Pacer, sortSteps } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { query, selectionOf, sortByTime } from '../../victoria/logsql/build.js';
import { printFilter } from '../../victoria/logsql/print.js';
import type { LogRow, RowReader } from '../../victoria/names/row-reader.js';
import type { RowsRequest, Upstream } from '../../victoria/upstream/types.js';
import type { Direction } from '../../wire/api/request.js';
import { countRows } from './count-by-time.js';
import { timeoutSignal } from '../../base/time/waits.js';

/** The part of the backend client that row reads need. */
export type RowsUpstream = Pick<Upstream, 'owner' | 'rows' | 'stats' | 'until'>;

export interface PagesRequest {
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
  readonly direction: Direction;
  /** Number of rows of the first page; later pages grow. */
  readonly firstPageRows: number;
  readonly upstream: RowsUpstream;
  readonly reader: RowReader;
  readonly signal: AbortSignal;
  /** Charged for the memory of rows. */
  readonly memory: MemoryAccount;
  /** Number of entries that the answer still needs, called between reads. Without it, reads grow. */
  readonly missing?: () => number;
  /** Rows per nanosecond by selection and by filter, which determine the size of a read. */
  readonly densities?: Memory<number>;
}

/** Requests the given number of newest or oldest rows. */
export function pageRequest(
  filter: LogsqlFilter,
  range: TimeRange,
  direction: Direction,
  size: number,
): RowsRequest {
  return direction === 'forward'
    ? { query: query(filter, [sortByTime(size)]), range }
    : { query: query(filter), range, newest: size };
}

/** Reads all rows of one timestamp, which may be more than a page; they are passed on as they arrive. */
export async function* readInstant(
  { filter, upstream, reader }: PagesRequest,
  instant: bigint,
): AsyncGenerator<readonly LogRow[]> {
  const range = { startNs: instant, endNs: instant + 1n };
  for await (const batch of upstream.rows({ query: query(filter), range }))
    yield batch.map((row) => reader.read(row));
}

/** Sorts rows by direction, in place. */
export function sortRows(rows: LogRow[], direction: Direction, pacer: Pacer): Promise<readonly LogRow[]> {
  return atPace(sortSteps(rows, direction === 'forward' ? byTime : (a, b) => byTime(b, a)), pacer);
}

function byTime(a: LogRow, b: LogRow): number {
  return timeOrder(a.timestampNs, b.timestampNs);
}

/** Recognizes repeated items of the same timestamp, in items that come in time order. */
export class Instant<Item> {
  readonly #identityOf: (item: Item) => string;
  readonly #seen = new Set<string>();
  #first: { readonly timestampNs: bigint; readonly item: Item } | undefined;

  constructor(identityOf: (item: Item) => string) {
    this.#identityOf = identityOf;
  }

  isRepeated(timestampNs: bigint, item: Item): boolean {
    const first = this.#first;
    if (first?.timestampNs !== timestampNs) {
      this.#first = { timestampNs, item };
      if (this.#seen.size > 0) this.#seen.clear();
      return false;
    }
    // Most timestamps have one row, so identities are only computed from the second row on.
    if (this.#seen.size === 0) this.#seen.add(this.#identityOf(first.item));
    const identity = this.#identityOf(item);
    if (this.#seen.has(identity)) return true;
    this.#seen.add(identity);
    return false;
  }
}

/** The size of one read. */
interface ReadSpan {
  readonly lengthNs: bigint;
  /** Number of rows it should contain. */
  readonly wantedRows: number;
}

/** Maximum number of rows that a span is planned for. A span that turns out several times larger than wanted is cut and read again. */
const maxWantedRows = 20_000;
const minWantedRows = 100;
const tooMany = 4;
/** Maximum number of bytes that a span is planned for; with long lines it gets fewer rows. */
const maxBytes = 64 * 1024 * 1024;
const fastestGrowth = 16;
/**
 * Length from which reading a span without a limit is a heavy query, whose concurrency is limited. With a limit, the backend sorts the rows
 * that it reads, which takes longer.
 */
const longNs = 3_600_000_000_000n;
const maxPickedRows = 10_000;

/**
 * The span that should contain the first rows, estimated from what was last read through the same filter, or else from the row counts of
 * the selected streams, which the backend knows without reading rows. To select the newest of many rows, the backend would read them several times. Undefined if there are so few rows that this
 * does not matter.
 */
export async function spanOfFirstRows(request: PagesRequest): Promise<ReadSpan | undefined> {
  const { range, firstPageRows } = request;
  const rangeNs = range.endNs - range.startNs;
  if (rangeNs <= 1n || firstPageRows < 1) return undefined;
  const rows = (await densityOf(request)) * Number(rangeNs);
  const wantedRows = Math.min(firstPageRows, maxWantedRows);
  // Rows are not evenly distributed, and a span with too few rows costs another call.
  const spare = Math.ceil(3 * Math.sqrt(wantedRows) + wantedRows / 20);
  if (!(rows > 2 * (wantedRows + spare))) return undefined;
  const lengthNs = (rangeNs * BigInt(wantedRows + spare)) / BigInt(Math.ceil(rows));
  return { lengthNs: lengthNs > 0n ? lengthNs : 1n, wantedRows };
}

const densityMs = 60_000;
const densityBytes = 8;
/** Timeout for a count; a slower one costs more than it saves. */
const countingMs = 2_000;

function densityKey({ owner }: Pick<Upstream, 'owner'>, filter: LogsqlFilter): string {
  return `${owner} ${printFilter(filter)}`;
}

/**
 * Approximate number of rows per nanosecond that pass the filter, if it is remembered, or else of all rows of the selection, counted if that
 * is not remembered either; 0 if they cannot be counted.
 */
async function densityOf({ filter, range, upstream, signal, densities }: PagesRequest): Promise<number> {
  const selection = selectionOf(filter);
  const key = densityKey(upstream, selection);
  const known = densities?.get(densityKey(upstream, filter)) ?? densities?.get(key);
  if (known !== undefined) return known;
  const counted = upstream.until?.(timeoutSignal(countingMs)) ?? upstream;
  try {
    const rows = await countRows(counted, selection, range, true);
    const density = rows / Number(range.endNs - range.startNs);
    // A range without rows says nothing about others.
    if (density > 0) densities?.set(key, density, densityBytes, densityMs);
    return density;
  } catch {
    signal.throwIfAborted();
    // Remembered as well, so that the next reads do not wait for another failing count.
    densities?.set(key, 0, densityBytes, densityMs);
    return 0;
  }
}

/** Remembers how many rows passed a filter in a time of this length, for reads of other ranges. */
export function rememberDensity(
  { filter, upstream, densities }: PagesRequest,
  lengthNs: bigint,
  rows: number,
): void {
  const key = densityKey(upstream, filter);
  // The rows of a selection are counted.
  if (lengthNs <= 0n || key === densityKey(upstream, selectionOf(filter))) return;
  densities?.set(key, rows / Number(lengthNs), densityBytes, densityMs);
}

/** A span that covers the whole range. */
export function wholeSpan({ startNs, endNs }: TimeRange): ReadSpan {
  return { lengthNs: endNs - startNs, wantedRows: maxWantedRows };
}

/** The span after a time segment with `rows` rows. */
export function spanBehind(lengthNs: bigint, rows: number): ReadSpan {
  return { lengthNs: nextLength(lengthNs, rows, maxWantedRows), wantedRows: maxWantedRows };
}

/**
 * Reads all rows of a range in the request's direction, span by span. The backend sends the rows of a span in any order, which costs no
 * more than reading them, and the span is sorted here. The length of a span depends on the density of earlier rows and on the share that
 * matched.
 */
export async function* readSpans(
  request: PagesRequest,
  { startNs, endNs }: TimeRange,
  first: ReadSpan,
  pacer: Pacer,
): AsyncGenerator<readonly LogRow[]> {
  const isForward = request.direction === 'forward';
  const demand = new Demand(request, first.wantedRows);
  let { lengthNs } = first;
  let [from, to] = [startNs, endNs];
  let wasCut = false;
  let rowsRead = 0;
  while (from < to) {
    const range = isForward
      ? { startNs: from, endNs: from + lengthNs < to ? from + lengthNs : to }
      : { startNs: to - lengthNs > from ? to - lengthNs : from, endNs: to };
    const isInstant = range.endNs - range.startNs === 1n;
    if (isInstant) {
      yield* readInstant(request, range.startNs);
      lengthNs = BigInt(fastestGrowth);
    } else {
      const { wantedRows } = demand;
      const read = await readSpan(request, range, tooMany * Math.max(wantedRows, minWantedRows), pacer);
      const rows = await sortRows(read.rows, request.direction, pacer);
      if (!read.isWhole) {
        request.memory.release(read.bytes, 'log lines');
        const cut = rows[Math.min(wantedRows, rows.length >> 1)]?.timestampNs ?? range.startNs;
        lengthNs = shorterLength(range, cut, isForward, wasCut);
        wasCut = true;
        continue;
      }
      wasCut = false;
      rowsRead += rows.length;
      rememberDensity(request, isForward ? range.endNs - startNs : endNs - range.startNs, rowsRead);
      if (rows.length > 0) yield rows;
      request.memory.release(read.bytes, 'log lines');
      demand.seen(rows.length);
      lengthNs = nextLength(range.endNs - range.startNs, rows.length, demand.wantedRows);
    }
    if (isForward) from = range.endNs;
    else to = range.startNs;
  }
}

/** Determines how many rows the next span should have, by the share of earlier rows that matched. */
class Demand {
  readonly #missing: (() => number) | undefined;
  readonly #atFirst: number;
  #rows = 0;
  wantedRows: number;

  constructor({ missing }: PagesRequest, wantedRows: number) {
    this.#missing = missing;
    this.#atFirst = missing?.() ?? 0;
    this.wantedRows = wantedRows;
  }

  /** Records that rows were read and passed on. */
  seen(rows: number): void {
    this.#rows += rows;
    // A span without rows only shows that few rows pass the backend's filter, and its length grows.
    if (this.#rows === 0) return;
    const missing = this.#missing?.() ?? 0;
    const found = this.#atFirst - missing;
    const wanted =
      found > 0 ? Math.ceil((1.2 * missing * this.#rows) / found) : this.wantedRows * fastestGrowth;
    this.wantedRows = Math.min(Math.max(wanted, minWantedRows), maxWantedRows);
  }
}

/** The rows of a span; only some of them if there are too many to hold. */
async function readSpan(
  request: PagesRequest,
  range: TimeRange,
  maxRows: number,
  pacer: Pacer,
): Promise<HeldRows> {
  const { filter, direction } = request;
  const isPicked = range.endNs - range.startNs > longNs && 2 * maxRows <= tooMany * maxPickedRows;
  const most = Math.min(maxRows, maxPickedRows);
  const asked = isPicked ? pageRequest(filter, range, direction, most) : { query: query(filter), range };
  const read = await readHeld(request, asked, pacer, { rows: maxRows, bytes: maxBytes });
  return { ...read, isWhole: read.isWhole && (!isPicked || read.rows.length < most) };
}

/** Rows that are held in memory, with the bytes that are charged for them. */
interface HeldRows {
  readonly rows: LogRow[];
  readonly bytes: number;
  /** False if there are more rows. */
  readonly isWhole: boolean;
}

/** Reads the rows of a call, up to a limit. */
export async function readHeld(
  { upstream, reader, memory }: PagesRequest,
  asked: RowsRequest,
  pacer: Pacer,
  most = { rows: Infinity, bytes: Infinity },
): Promise<HeldRows> {
  const rows: LogRow[] = [];
  let bytes = 0;
  for await (const batch of upstream.rows(asked)) {
    for (const row of batch) {
      if (rows.length === most.rows || (bytes > most.bytes && rows.length > 1))
        return { rows, bytes, isWhole: false };
      const read = reader.read(row);
      const size = logRowBytes(read);
      memory.charge(size, 'log lines');
      bytes += size;
      rows.push(read);
    }
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return { rows, bytes, isWhole: true };
}

/** The length that probably contains the wanted number of rows; no row counts as one. */
function nextLength(lengthNs: bigint, rows: number, wantedRows: number): bigint {
  const scaled = (lengthNs * BigInt(wantedRows)) / BigInt(Math.max(rows, 1));
  return scaled > 0n ? scaled : 1n;
}

/**
 * A shorter span that ends with the timestamp of the row at which reading was cut, or before it if that is the whole span. The rows that
 * arrived first may all be at the far end: if cutting there failed before, the length is the better estimate.
 */
function shorterLength(
  { startNs, endNs }: TimeRange,
  cut: bigint,
  isForward: boolean,
  wasCut: boolean,
): bigint {
  const wholeNs = endNs - startNs;
  const lengthNs = isForward ? cut + 1n - startNs : endNs - cut;
  if (lengthNs >= wholeNs) return wholeNs - 1n;
  const partNs = wholeNs / BigInt(tooMany);
  return wasCut && partNs > 0n && partNs < lengthNs ? partNs : lengthNs;
}
