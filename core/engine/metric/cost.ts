import type { Memory } from '../../base/memory/byte-lru.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Cost } from '../../base/trace.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import type { AnswerStats } from '../../wire/answer/types.js';
import { callRows } from './count/time-segments.js';

/** Facts about the rows of a leaf that need no call to the backend. Undefined means unknown. */
export interface RowEstimates {
  /** Number of rows of the selection in the range, assuming that rows are spread evenly. */
  readonly rows: number | undefined;
  /** Number of these rows that pass the backend's filter. */
  readonly passing: number | undefined;
  /** Number of these rows that no query has inspected yet. */
  readonly newRows: number | undefined;
  /** Average number of bytes of a line. */
  readonly lineBytes: number | undefined;
  /** True if rows of the selection are known to have a stored line. */
  readonly hasLines: boolean;
  /** Rows and bytes that the strategy received for such a leaf the last time, scaled to the current number of intervals or rows. */
  readonly sent: { readonly perInterval: Sent; readonly perRow: Sent | undefined } | undefined;
}

interface Sent {
  readonly rows: number;
  readonly bytes: number;
}

/** Facts learned about the rows of a selection. */
export interface SeenRows {
  readonly perNs: number;
  /** The range in which all rows were inspected; undefined if there is none. */
  readonly inspected: TimeRange | undefined;
}

/** Rows and bytes that a strategy received to read a leaf. */
export interface SentRows extends Sent {
  /** Number of rows of the selection in the range at that time. */
  readonly ofRows: number | undefined;
  readonly intervals: number;
}

export const noEstimates: RowEstimates = {
  rows: undefined,
  passing: undefined,
  newRows: undefined,
  lineBytes: undefined,
  hasLines: false,
  sent: undefined,
};

/** Number of calls that list the streams, and count or read the rows; new rows take one more call to inspect. */
const usualCalls = 2;

/** The cost of letting the backend count. `firstCalls` are added if nothing is known about the selection. */
export function costOfCounting(
  { rows, newRows, sent }: RowEstimates,
  { firstCalls, splitsLines }: { readonly firstCalls: number; readonly splitsLines: boolean },
): Cost {
  const looks = newRows === undefined ? 1 + firstCalls : newRows > 0 ? 1 : 0;
  const calls = usualCalls + looks;
  const { rows: sentRows, bytes: sentBytes } = sent?.perInterval ?? unknownSent;
  const read = { calls, scannedRows: rows, splitsLines, proofRows: newRows };
  return { ...read, sends: 'groups', sentRows, sentBytes };
}

const unknownSent = { rows: undefined, bytes: undefined };
/** Bytes of a row besides its line: time, stream, and the names of columns. */
const rowBytes = 150;

/** The cost of reading rows, at `heldRows` per call. */
export function costOfRows(
  { rows, passing, newRows, lineBytes, sent }: RowEstimates,
  { columns, heldRows }: { readonly columns: 'all' | 'seen' | 'shortened lines'; readonly heldRows: number },
): Cost {
  const more = rows === undefined || rows <= heldRows ? 0 : 1 + Math.floor(rows / callRows);
  // Counting inspects other columns, so its findings do not save this inspection.
  const calls = usualCalls + 1 + more;
  const { rows: sentRows = passing, bytes } = sent?.perRow ?? unknownSent;
  const ofLines =
    columns === 'seen' && sentRows !== undefined && lineBytes !== undefined
      ? sentRows * (lineBytes + rowBytes)
      : undefined;
  const read = { calls, scannedRows: rows, splitsLines: columns === 'shortened lines', proofRows: newRows };
  return { ...read, sends: 'rows', sentRows, sentBytes: bytes ?? ofLines };
}

/** Maximum number of rows to read if `expected` rows are estimated. */
export function rowLimitFor(expected: number): number {
  return 4 * expected + 1000;
}

/**
 * Milliseconds per unit of cost. From docs/internals/measurements.md: a row that the backend reads (457,000 of `rate` in 29 ms), a row that is
 * inspected first (34 ms more for the first `rate`) and a line that the backend parses (five million in 3.5 s). The weights of a call, of a
 * call that parses lines, and of a row and a byte received here come from "Few lines of JSON" there.
 */
export const weights = {
  call: 2.5,
  scannedRow: 65e-6,
  proofRow: 75e-6,
  splitting: 12,
  splitRow: 0.7e-3,
  sentRow: 1e-3,
  sentByte: 1e-5,
} as const;

/** The approximate duration of a cost in milliseconds; undefined if a part of it is unknown. */
export function millisecondsOf(cost: Cost): number | undefined {
  const { calls, scannedRows, splitsLines, sentRows, sentBytes, proofRows } = cost;
  if (scannedRows === undefined || sentRows === undefined) return undefined;
  if (sentBytes === undefined || proofRows === undefined) return undefined;
  const splittingMs = splitsLines ? weights.splitting + scannedRows * weights.splitRow : 0;
  const scanningMs = scannedRows * weights.scannedRow + proofRows * weights.proofRow;
  const sendingMs = sentRows * weights.sentRow + sentBytes * weights.sentByte;
  return calls * weights.call + scanningMs + splittingMs + sendingMs;
}

/** TTL of a decline caused by data. */
const keptMs = 600_000;

/** Remembers declines caused by the data of one owner, so that the same is not tried again for a while. */
export class Declines {
  readonly #memory: Memory<Declined>;
  readonly #owner: string;

  constructor(memory: Memory<Declined>, owner: string) {
    this.#memory = memory;
    this.#owner = owner;
  }

  /** @param what everything that the decline depends on */
  of(...what: readonly unknown[]): Declined | undefined {
    return this.#memory.get(this.#keyOf(what));
  }

  remember(declined: Declined, ...what: readonly unknown[]): Declined {
    this.#memory.set(this.#keyOf(what), declined, 0, keptMs);
    return declined;
  }

  /** Calls `ask`, unless the same was declined before. */
  async unless<Result extends object>(
    what: readonly unknown[],
    ask: () => Promise<Result | Declined>,
  ): Promise<Result | Declined> {
    const known = this.of(...what);
    if (known !== undefined) return known;
    const result = await ask();
    return isDeclined(result) ? this.remember(result, ...what) : result;
  }

  #keyOf(what: readonly unknown[]): string {
    return JSON.stringify([this.#owner, ...what]);
  }
}

/** Reasons why a strategy cannot read a leaf, which makes its cost infinite: identifiers for metrics and logs, with their meaning. */
export const declineReasons = {
  'all-columns': 'the query uses all labels of rows, so no column can be omitted',
  'entry-failed': 'an entry cannot be evaluated, and the error must name it as Loki does',
  'errors-kept': 'a sample has an error that the query keeps, so it is a series with all labels',
  'hidden-fields': 'a row has another value in a field than its stream has',
  'lenient-numbers': 'lines contain numbers that the JSON parser of the backend accepts and Loki’s refuses',
  'lines-differ': 'lines are too different: there would be almost as many groups as lines',
  'lines-needed':
    'the query uses more of the lines than the labels of | json, | logfmt, | pattern or | regexp',
  'lines-stay-long': 'too few sampled lines would get shorter',
  'missing-lines': 'rows have no stored line',
  'more-rows': 'there are many more rows than expected, so the strategy is chosen again',
  'no-buckets': 'the range contains no complete counting window',
  'no-matching-line': 'no line was found that `| regexp` matches with the values of a group',
  'no-parsed-labels':
    'the query uses no label from the parser, so valid and invalid lines cannot be distinguished',
  'not-countable':
    'the backend has no statistics for it; the pushdown rule of the range aggregation explains why',
  'query-too-long': 'its query would be longer than -search.maxQueryLen of VictoriaLogs allows',
  'repeated-rows': 'entries were pushed more than once',
  'reserved-name': 'a field is called __proto__, which cannot be a column here',
  'rewritten-numbers': 'values such as 1_000 would be grouped as 1000 by the backend',
  'row-labels': 'a filter uses a label that may have as many values as there are rows',
  'shared-streams': 'several streams of the backend have the same labels and may hold the same entries',
  'times-needed': 'the times of values or their order matter, or no values are unwrapped',
  'too-many-buckets': 'there are more time buckets than one backend call may request',
  'too-many-groups': 'there are more groups than the series limit of the answer',
  'too-many-parsed-labels': 'the parser extracts more labels than the grouping supports',
  'too-many-repeats': 'too many entries were pushed more than once to compare their rows one by one',
  'too-many-shapes': 'too many kinds of lines need a check to list them in one query',
  'too-many-values': 'groups and buckets together have more values than fit into memory',
  'uneven-buckets':
    'buckets do not start at whole milliseconds, and the backend reports their start in milliseconds only',
  'values-seen': 'the unwrapped label is also used by another stage, or stays a label',
  'unlisted-stream': 'a row belongs to a stream that appeared after the streams were listed',
} as const satisfies Readonly<Record<string, string>>;

/** Outcomes of attempts other than declines. */
export const endTexts = {
  ran: 'it produced the series',
  failed: 'its error ended the query',
} as const;

const outcomeTexts: ReadonlyMap<string, string> = new Map([
  ...Object.entries(endTexts),
  ...Object.entries(declineReasons),
]);

/** The outcome of an attempt, in words. */
export function outcomeText(outcome: string): string {
  return outcomeTexts.get(outcome) ?? outcome;
}

export type DeclineReason = keyof typeof declineReasons;

/** Returned by a strategy, or by a step of one, that cannot give a result. */
export interface Declined {
  readonly declined: DeclineReason;
}

export function decline(reason: DeclineReason): Declined {
  return { declined: reason };
}

export function isDeclined(result: object): result is Declined {
  return 'declined' in result;
}

/** Number of rows that were read, bytes of their lines, and bytes of their structured metadata. */
export interface RowsRead {
  readonly rows: number;
  readonly bytes: number;
  readonly metadataBytes: number;
}

/**
 * Counts the cost of the answer to a metric query. Bytes are those of lines that were read here, or whose length the backend reported; a
 * count of rows reads no lines and adds no bytes.
 */
export class MetricCounts {
  #scanned = 0;
  #passed = 0;
  #bytes = 0;
  #metadataBytes = 0;

  /** Counts a row that was read. */
  row({ line, structuredMetadata }: LogRow): void {
    this.#scanned += 1;
    this.#passed += 1;
    this.#bytes += Buffer.byteLength(line);
    for (const [name, value] of structuredMetadata.labels) this.#metadataBytes += name.length + value.length;
  }

  /** Adds rows that were read by a thread. */
  read({ rows, bytes, metadataBytes }: RowsRead): void {
    this.#scanned += rows;
    this.#passed += rows;
    this.#bytes += bytes;
    this.#metadataBytes += metadataBytes;
  }

  /** Returns the number of rows read so far, and resets it. */
  takeRead(): RowsRead {
    const taken = { rows: this.#scanned, bytes: this.#bytes, metadataBytes: this.#metadataBytes };
    [this.#scanned, this.#passed, this.#bytes, this.#metadataBytes] = [0, 0, 0, 0];
    return taken;
  }

  /** Adds the rows of the streams covered by the backend's statistics, before any line filter, as listed by the backend. */
  scanned(streams: readonly { readonly hits: number }[]): void {
    for (const { hits } of streams) this.#scanned += hits;
  }

  /** Adds rows, or their bytes, that the backend counted without sending them. `scanned` has already counted the rows they are among. */
  counted(rows: number, bytes: number): void {
    this.#passed += rows;
    this.#bytes += bytes;
  }

  stats(execTimeMs: number, entriesReturned: number): AnswerStats {
    return {
      linesProcessed: this.#scanned,
      bytesProcessed: this.#bytes,
      entriesReturned,
      postFilterLines: this.#passed,
      structuredMetadataBytes: this.#metadataBytes,
      execTimeMs,
      splits: 1,
    };
  }
}

/** The assumptions that an answer may rely on, with the texts of the warning. */
const assumable = {
  'no-repeats': 'there are no duplicate rows',
  'sampled-lines': 'all lines are like a sample of them',
  'plain-values': 'Loki and VictoriaLogs parse all lines and values the same',
} as const;
type Assumption = keyof typeof assumable;

const nsPerMs = 1_000_000n;

/**
 * The assumptions of one request (`-first-answers=prompt`). An answer that relies on any of them is provisional: it carries a warning, is
 * not cached, and the facts are proven afterwards.
 */
export class Assumptions {
  readonly #maxRows: number;
  readonly #rangeMs: number;
  /** The assumptions made, each with the keys of the facts to prove. */
  readonly #made = new Map<Assumption, Set<string>>();

  /**
   * @param maxRows maximum number of rows, over the whole range of the request, that a proof may inspect while the client waits
   * @param range range of the whole request, whose parts may be read separately
   */
  constructor(maxRows: number, range: TimeRange) {
    this.#maxRows = maxRows;
    this.#rangeMs = rangeMsOf(range);
  }

  /** True if these rows are too many to inspect while the client waits. The rest of the request is assumed to be as dense as this part. */
  allows(rows: number, part: TimeRange): boolean {
    const share = Math.max(1, this.#rangeMs / Math.max(1, rangeMsOf(part)));
    return rows * share > this.#maxRows;
  }

  /** @param key identifies the fact to prove, by the owner of the rows and their selection among others */
  make(assumption: Assumption, key: string): void {
    const keys = this.#made.get(assumption) ?? new Set();
    this.#made.set(assumption, keys.add(key));
  }

  /** Identifies the facts to prove; undefined if nothing was assumed. */
  get key(): string | undefined {
    if (this.#made.size === 0) return undefined;
    return JSON.stringify([...this.#made].map(([assumption, keys]) => [assumption, ...[...keys].sort()]));
  }

  /** Warnings that tell clients what was assumed; empty if nothing was. */
  get warnings(): readonly string[] {
    if (this.#made.size === 0) return [];
    const texts = [...this.#made.keys()].sort().map((assumption) => assumable[assumption]);
    return [
      `first answer, computed before all rows were checked: it assumes that ${texts.join(', and that ')}; ` +
        'the check takes some seconds, and the next refresh after it shows the exact answer (-first-answers=exact waits for it)',
    ];
  }
}

function rangeMsOf({ startNs, endNs }: TimeRange): number {
  return Number((endNs - startNs) / nsPerMs);
}

declare module '../../kernel/plugin/slots.js' {
  interface Slots {
    /**
     * The assumptions that the answer may rely on (provided by translate). Optional for all stages: without this slot all facts are proven
     * first.
     */
    assumptions: Assumptions;
  }
}
