import { clipped, rangeOfBoth, timeOrder } from '../../core/base/order.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import type { TimeRange } from '../../core/base/time/range.js';
import type { LogExpr } from '../../core/logql/index.js';
import { mergeStreams } from '../../core/wire/answer/merge/index.js';
import type { Answer, StreamsAnswer } from '../../core/wire/answer/types.js';
import type { Direction, QueryRangeRequest } from '../../core/wire/api/request.js';
import { countEntries, cutStreams } from './cut.js';
import { fewestWidened, type TimeWindow, windowsOf } from './windows.js';
import type { SelectorRead } from './line-counts.js';
import type { KnownWindow, Windowing } from './windowing.js';

const msNs = 1_000_000n;

/** A window of a log query. */
interface Slot {
  readonly window: KnownWindow;
  /** The whole window, and the requested part of it. */
  readonly whole: TimeRange;
  readonly shown: TimeRange;
}

interface LogRead {
  readonly part: StreamsAnswer;
  /** True if the limit did not end it. */
  readonly isComplete: boolean;
}

/**
 * Answers a log query from windows, in its direction, until its limit is reached. Adjacent windows that are not cached are read with one
 * call.
 * @returns undefined if the query should be requested as a whole
 */
export async function answerLogWindows(
  { selector }: LogExpr,
  request: QueryRangeRequest,
  windowing: Windowing,
): Promise<Answer | undefined> {
  const { startNs, endNs } = request.range;
  // An interval is counted from entry to entry, across the bounds of windows.
  if (request.intervalNs > 0n || startNs >= endNs) return undefined;
  const [startMs, endMs] = [Number(startNs / msNs), Number((endNs + msNs - 1n) / msNs)];
  const readings: readonly SelectorRead[] = [{ matchers: selector.matchers, lookbackMs: 0, offsetMs: 0 }];
  const windows = windowsOf(startMs, endMs, 0, windowing.cutting(readings));
  if (windows.length === 0 || windowing.isBeyondReach(startMs, readings)) return undefined;
  windowing.begin(windows);
  return new LogWindows(request, windows, readings, windowing).answer();
}

/** Number of windows that are counted first, because they may hold enough lines. The first of them may be short, and may still change. */
const nearest = 2;
/** Minimum number of windows for that: a count of a few more costs little. */
const fewestFurther = 4;

class LogWindows {
  readonly #request: QueryRangeRequest;
  readonly #readings: readonly SelectorRead[];
  readonly #windowing: Windowing;
  readonly #pacer: Pacer;
  /** All windows in the direction of the request. */
  readonly #windows: readonly TimeWindow[];

  constructor(
    request: QueryRangeRequest,
    windows: readonly TimeWindow[],
    readings: readonly SelectorRead[],
    windowing: Windowing,
  ) {
    this.#request = request;
    this.#readings = readings;
    this.#windowing = windowing;
    this.#pacer = new Pacer(windowing.signal);
    this.#windows = request.direction === 'backward' ? windows.toReversed() : windows;
  }

  async answer(): Promise<Answer> {
    const { limit, direction } = this.#request;
    const parts: StreamsAnswer[] = [];
    let missing = limit;
    for await (const slots of this.#slots()) {
      missing = await this.#addParts(slots, missing, parts);
      if (missing <= 0) break;
    }
    return this.#windowing.together(() => atPace(mergeStreams(parts, { direction, limit }), this.#pacer));
  }

  /** The windows in the direction of the request: the nearest ones alone if they hold enough lines, then all others. */
  async *#slots(): AsyncGenerator<readonly Slot[]> {
    let first = 0;
    if (this.#windows.length >= nearest + fewestFurther) {
      const slots = await this.#slotsOf(0, nearest);
      if (slots.reduce((sum, { window }) => sum + (window.lines ?? 0), 0) >= this.#request.limit) {
        yield slots;
        first = nearest;
      }
    }
    yield this.#slotsOf(first, this.#windows.length);
  }

  async #slotsOf(from: number, to: number): Promise<readonly Slot[]> {
    const known = await this.#windowing.known(this.#windows.slice(from, to), this.#readings, true);
    return known.map((window): Slot => {
      const whole = { startNs: BigInt(window.startMs) * msNs, endNs: BigInt(window.endMs) * msNs };
      return { window, whole, shown: clipped(whole, this.#request.range) };
    });
  }

  /** Adds the parts of an answer in these windows, and returns the number of entries that are still missing; 0 if a read was incomplete. */
  async #addParts(slots: readonly Slot[], wanted: number, parts: StreamsAnswer[]): Promise<number> {
    let missing = wanted;
    const keptAt = this.#windowing.kept.inTurn(slots.map(({ window }) => window.key));
    const isRead = async (place: number): Promise<boolean> =>
      slots[place]?.window.isEmpty === false && (await keptAt(place)) === undefined;
    const add = (part: StreamsAnswer | undefined): void => {
      if (part === undefined) return;
      parts.push(part);
      missing -= countEntries(part);
    };
    for (let place = 0; place < slots.length && missing > 0;) {
      const slot = slots[place];
      if (slot === undefined) break;
      const packed = await keptAt(place);
      if (packed !== undefined) add(await this.#fromKept(slot, packed, missing));
      else if (slot.window.isEmpty) this.#windowing.skipped();
      else {
        let end = place + 1;
        while (await isRead(end)) end += 1;
        const reads = await this.#readRun(slots.slice(place, end), missing);
        for (const { part } of reads) add(part);
        if (reads.at(-1)?.isComplete === false) return 0;
        place = end;
        continue;
      }
      place += 1;
    }
    return missing;
  }

  #readRun(run: readonly Slot[], missing: number): Promise<readonly LogRead[]> {
    let left = missing;
    const read = async (slots: readonly Slot[]): Promise<LogRead> => {
      const found = await this.#read(slots, left);
      left -= countEntries(found.part);
      return found;
    };
    return this.#windowing.readRun(run, this.#windowing.signal, read, ({ isComplete }) => !isComplete);
  }

  /**
   * The entries of a cached window. If the limit falls between lines with the same timestamp, the window is read, because the backend
   * decides which of them stay.
   * @returns undefined if it cannot be read and answers may be partial
   */
  async #fromKept(slot: Slot, packed: Buffer, missing: number): Promise<StreamsAnswer | undefined> {
    const answer = await this.#windowing.kept.unpack(packed);
    if (answer.kind === 'streams') {
      const part = await atPace(cutStreams(answer, slot.shown), this.#pacer);
      if (!divides(missing, part, this.#request.direction)) return part;
    }
    const [read] = await this.#readRun([slot], missing);
    return read?.part;
  }

  /** Reads adjacent windows with one call. */
  async #read(slots: readonly Slot[], missing: number): Promise<LogRead> {
    const ranges = slots.map((slot) => this.#rangeOf(slot));
    const range = ranges.reduce(rangeOfBoth);
    const answer = await this.#windowing.readStreams({
      request: { ...this.#request, range, limit: missing },
      windows: slots.length,
    });
    const isComplete = countEntries(answer) < missing;
    const covered = isComplete ? range : this.#covered(answer, range);
    for (const [place, { window, whole }] of slots.entries()) {
      if (window.key === undefined || ranges[place] !== whole) continue;
      if (whole.startNs < covered.startNs || whole.endNs > covered.endNs) continue;
      await this.#windowing.kept.keep(window.key, await atPace(cutStreams(answer, whole), this.#pacer));
    }
    const part = await atPace(cutStreams(answer, this.#request.range), this.#pacer);
    return { part: { ...part, stats: answer.stats }, isComplete };
  }

  /** The time range in which an answer that ended at its limit is complete: up to its last timestamp, exclusive. */
  #covered({ streams }: StreamsAnswer, { startNs, endNs }: TimeRange): TimeRange {
    const lasts = streams.flatMap(({ entries }) => entries.at(-1)?.timestampNs ?? []);
    if (this.#request.direction === 'backward') {
      const last = lasts.reduce((least, ns) => (ns < least ? ns : least), endNs);
      return { startNs: last + 1n, endNs };
    }
    const last = lasts.reduce((most, ns) => (ns > most ? ns : most), startNs);
    return { startNs, endNs: last };
  }

  /** The range to read. The oldest window is read whole, though only a part is shown, because the next refresh shows it too. */
  #rangeOf(slot: Slot): TimeRange {
    if (slot.window.key === undefined) return slot.shown;
    if (slot.shown.startNs === slot.whole.startNs && slot.shown.endNs === slot.whole.endNs) return slot.whole;
    const isOldest =
      this.#request.direction === 'backward' && slot.window.startMs === this.#windows.at(-1)?.startMs;
    return isOldest && this.#windows.length >= fewestWidened ? slot.whole : slot.shown;
  }
}

/** True if a limit falls between entries with the same timestamp. */
function divides(limit: number, { streams }: StreamsAnswer, direction: Direction): boolean {
  const times = streams.flatMap(({ entries }) => entries.map(({ timestampNs }) => timestampNs));
  if (times.length <= limit) return false;
  times.sort(timeOrder);
  if (direction === 'backward') times.reverse();
  return times[limit - 1] === times[limit];
}
