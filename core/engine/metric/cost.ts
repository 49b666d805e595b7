import type { TimeRange } from '../../base/time/range.js';
import type { Cost } from '../../base/trace.js';
import { callRows } from './row-windows.js';

/** Facts about the rows of a leaf that need no call to the backend. Undefined means unknown. */
export interface RowEstimates {
  /** Rows of the selection in the range, as many as there would be if they were spread evenly. */
  readonly rows: number | undefined;
  /** Rows among them that pass the filter of the backend. */
  readonly passing: number | undefined;
  /** Rows among them that no query has inspected yet. */
  readonly newRows: number | undefined;
  /** Bytes of a line. */
  readonly lineBytes: number | undefined;
  /** True when rows of the selection are remembered to have a stored line. */
  readonly hasLines: boolean;
  /** Rows and bytes that the strategy received for such a leaf the last time, scaled to the present number of intervals, or of rows. */
  readonly sent: { readonly perInterval: Sent; readonly perRow: Sent | undefined } | undefined;
}

interface Sent {
  readonly rows: number;
  readonly bytes: number;
}

/** Facts learned about the rows of a selection. */
export interface SeenRows {
  readonly perNs: number;
  /** The range whose rows were all inspected; undefined where none was. */
  readonly inspected: TimeRange | undefined;
}

/** Rows and bytes that a strategy received to read a leaf. */
export interface SentRows extends Sent {
  /** Rows of the selection that there were in the range. */
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

/** Calls that list the streams and count, or read the rows; one more looks at rows that are new. */
const usualCalls = 2;

/** The cost of letting the backend count; `firstCalls` are made besides where nothing is known of the selection. */
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

/** The cost of reading rows, of which `heldRows` are read in one call. */
export function costOfRows(
  { rows, passing, newRows, lineBytes, sent }: RowEstimates,
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

/** The limit of rows for an estimate of `expected` rows. */
export function rowLimitFor(expected: number): number {
  return 4 * expected + 1000;
}

/**
 * Milliseconds that parts of a cost take. Of docs/performance.md are those of a row that the backend reads (457,000 of `rate` in 29 ms), of
 * one that is looked at first (34 ms more at the first `rate`), and of a line that it takes apart (five million in 3.5 s). Those of a call,
 * of a call that takes lines apart, of a row and of a byte that come here are of "Few lines of JSON" there.
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

/** The approximate time of a cost in milliseconds; undefined where a part of it is not known. */
export function millisecondsOf(cost: Cost): number | undefined {
  const { calls, scannedRows, splitsLines, sentRows, sentBytes, proofRows } = cost;
  if (scannedRows === undefined || sentRows === undefined) return undefined;
  if (sentBytes === undefined || proofRows === undefined) return undefined;
  const splittingMs = splitsLines ? weights.splitting + scannedRows * weights.splitRow : 0;
  const scanningMs = scannedRows * weights.scannedRow + proofRows * weights.proofRow;
  const sendingMs = sentRows * weights.sentRow + sentBytes * weights.sentByte;
  return calls * weights.call + scanningMs + splittingMs + sendingMs;
}
