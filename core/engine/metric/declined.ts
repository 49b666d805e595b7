import type { Memory } from '../../base/memory/byte-lru.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Cost } from '../../base/trace.js';
import { callRows } from './row-windows.js';

/** What is known of the rows of a leaf without asking the backend. Undefined is what is not. */
export interface Known {
  /** Rows of the selection in the range, as many as there would be if they were spread evenly. */
  readonly rows: number | undefined;
  /** Those of them that pass the filter of the backend. */
  readonly passing: number | undefined;
  /** Those of them that no query has looked at yet. */
  readonly newRows: number | undefined;
  /** Bytes of a line. */
  readonly lineBytes: number | undefined;
  /** Whether rows of the selection are remembered to have a stored line. */
  readonly hasLines: boolean;
  /** What the strategy was sent for such a leaf the last time, for as many intervals, or rows, as there are now. */
  readonly sent: { readonly perInterval: Sent; readonly perRow: Sent | undefined } | undefined;
}

interface Sent {
  readonly rows: number;
  readonly bytes: number;
}

/** What was learned of the rows of a selection. */
export interface SeenRows {
  readonly perNs: number;
  /** Of which all rows were looked at; undefined where none was. */
  readonly looked: TimeRange | undefined;
}

/** What a strategy was sent to read a leaf. */
export interface SentRows extends Sent {
  /** Rows of the selection that there were in the range. */
  readonly ofRows: number | undefined;
  readonly intervals: number;
}

export const nothingKnown: Known = {
  rows: undefined,
  passing: undefined,
  newRows: undefined,
  lineBytes: undefined,
  hasLines: false,
  sent: undefined,
};

/** Calls that list the streams and count, or read the rows; one more looks at rows that are new. */
const usualCalls = 2;

/** The cost of letting the backend count; `firstCalls` are made besides where nothing is known of the selection. */
export function costOfCounting(
  { rows, newRows, sent }: Known,
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

/** The cost of reading rows, of which `heldRows` are read in one call. */
export function costOfRows(
  { rows, passing, newRows, lineBytes, sent }: Known,
  { columns, heldRows }: { readonly columns: 'all' | 'seen' | 'shortened lines'; readonly heldRows: number },
): Cost {
  const more = rows === undefined || rows <= heldRows ? 0 : 1 + Math.floor(rows / callRows);
  // Counts look at other columns, so that what they know does not save a look.
  const calls = usualCalls + 1 + more;
  const { rows: sentRows = passing, bytes } = sent?.perRow ?? unknownSent;
  const ofLines =
    columns === 'seen' && sentRows !== undefined && lineBytes !== undefined
      ? sentRows * (lineBytes + rowBytes)
      : undefined;
  const read = { calls, scannedRows: rows, splitsLines: columns === 'shortened lines', proofRows: newRows };
  return { ...read, sends: 'rows', sentRows, sentBytes: bytes ?? ofLines };
}

/** How many rows there may be where so many were expected. */
export function mostRows(expected: number): number {
  return 4 * expected + 1000;
}

/**
 * Milliseconds that parts of a cost take. Of docs/performance.md are those of a row that the backend reads (457,000 of `rate` in 29 ms), of one
 * that is looked at first (34 ms more at the first `rate`), and of a line that it takes apart (five million in 3.5 s). Those of a call, of a call
 * that takes lines apart, of a row and of a byte that come here are of "Few lines of JSON" there.
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

/** About how many milliseconds a cost comes to; undefined where a part of it is not known. */
export function millisecondsOf(cost: Cost): number | undefined {
  const { calls, scannedRows, splitsLines, sentRows, sentBytes, proofRows } = cost;
  if (scannedRows === undefined || sentRows === undefined) return undefined;
  if (sentBytes === undefined || proofRows === undefined) return undefined;
  const splittingMs = splitsLines ? weights.splitting + scannedRows * weights.splitRow : 0;
  const scanningMs = scannedRows * weights.scannedRow + proofRows * weights.proofRow;
  const sendingMs = sentRows * weights.sentRow + sentBytes * weights.sentByte;
  return calls * weights.call + scanningMs + splittingMs + sendingMs;
}

/** How long a decline that data has shown is taken to hold. */
const keptMs = 600_000;

/** Remembers what was declined because of the data of one owner, so that it is not tried again for a while. */
export class Declines {
  readonly #memory: Memory<Declined>;
  readonly #owner: string;

  constructor(memory: Memory<Declined>, owner: string) {
    this.#memory = memory;
    this.#owner = owner;
  }

  /** @param what was declined, by all that it depends on */
  of(...what: readonly unknown[]): Declined | undefined {
    return this.#memory.get(this.#keyOf(what));
  }

  remember(declined: Declined, ...what: readonly unknown[]): Declined {
    this.#memory.set(this.#keyOf(what), declined, 0, keptMs);
    return declined;
  }

  /** Asks, unless that was declined before. */
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

/** Why a strategy cannot read a leaf, so that its cost is infinite: identifiers for metrics and logs, with their meaning. */
export const declineReasons = {
  'all-columns': 'all labels of rows are seen, so no column can be left out',
  'entry-failed': 'an entry cannot be evaluated, and the error has to name it as Loki does',
  'has-lines': 'rows of the selection have a stored line',
  'hidden-fields': 'a row has another value in a field than its stream has',
  'lenient-numbers': 'lines hold numbers that the JSON parser of the backend takes and that of Loki refuses',
  'lines-differ': 'lines have too little in common: there would be almost as many groups as lines',
  'lines-needed': 'more of lines is seen than labels that | json takes from them',
  'lines-stay-long': 'too few lines of a sample would be shorter',
  'missing-lines': 'rows have no stored line',
  'more-rows': 'there are many more rows than were expected, so that it is chosen again',
  'no-buckets': 'the range has no window to count in',
  'no-json-labels': 'no label is wanted of which only | json knows, so nothing tells valid lines from others',
  'not-countable':
    'the backend has no statistics for it; the pushdown rule of the range aggregation says why',
  'repeated-rows': 'entries were pushed more than once',
  'reserved-name': 'a field is called __proto__, which cannot be a column here',
  'rewritten-numbers': 'values such as 1_000 would be grouped as 1000 by the backend',
  'row-labels': 'a filter looks at a label that may have as many values as there are rows',
  'shared-streams': 'several streams of the backend have the same labels and may hold the same entries',
  'times-needed': 'the times of values or their order matter, or no values are unwrapped',
  'too-many-buckets': 'there are more buckets of time than the backend is asked for',
  'too-many-groups': 'there are more groups than the answer may have series',
  'too-many-json-labels': '| json gives more labels than lines are told apart by',
  'too-many-repeats': 'too many entries were pushed more than once to compare their rows one by one',
  'too-many-shapes': 'too many kinds of lines need a look for naming them in a query',
  'too-many-values': 'groups and buckets together have more values than are held',
  'uneven-buckets':
    'buckets do not begin at whole milliseconds, and the backend shows no more of their begin',
  'values-seen': 'the label that is unwrapped is looked at by another stage or stays a label',
  'unlisted-stream': 'a row is of a stream that came after streams were listed',
} as const satisfies Readonly<Record<string, string>>;

/** The outcomes of attempts that are no reasons. */
export const endTexts = {
  ran: 'it gave the series',
  failed: 'its error ended the query',
} as const;

const outcomeTexts: ReadonlyMap<string, string> = new Map([
  ...Object.entries(endTexts),
  ...Object.entries(declineReasons),
]);

/** What became of an attempt, in words. */
export function outcomeText(outcome: string): string {
  return outcomeTexts.get(outcome) ?? outcome;
}

export type DeclineReason = keyof typeof declineReasons;

/** Returned by a strategy, or a step of one, that cannot give a result. */
export interface Declined {
  readonly declined: DeclineReason;
}

export function decline(reason: DeclineReason): Declined {
  return { declined: reason };
}

export function isDeclined(result: object): result is Declined {
  return 'declined' in result;
}
