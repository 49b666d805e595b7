import type { TimeRange } from '../../base/time/range.js';
import type { Cost } from '../../base/trace.js';
import { callRows } from './row-windows.js';

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
