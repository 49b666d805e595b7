import { sorted, type LogRow } from './log-rows.js';
import { mostLines, type Direction } from './query-state.js';
import type { NsRange } from './time-range.js';

/** The next page of lines after the loaded ones. */
export interface NextPage {
  readonly range: NsRange;
  readonly limit: number;
  /** True if the timestamp at the edge has as many lines as can be requested, so that some of them may be missing. */
  readonly skipsTies: boolean;
}

/**
 * The request for the rows after the last one: the range from its timestamp on, which may have more lines, with the limit raised by the
 * number of known lines of that timestamp. Undefined if the range has been read completely.
 */
export function nextPage(
  rows: readonly LogRow[],
  range: NsRange,
  limit: number,
  direction: Direction,
): NextPage | undefined {
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const edge = BigInt(last.ns);
  const known = rows.filter(({ ns }) => ns === last.ns).length;
  const skipsTies = known + limit > mostLines;
  const asked = skipsTies ? limit : known + limit;
  const next =
    direction === 'backward'
      ? { startNs: range.startNs, endNs: skipsTies ? edge : edge + 1n }
      : { startNs: skipsTies ? edge + 1n : edge, endNs: range.endNs };
  return next.startNs < next.endNs ? { range: next, limit: asked, skipsTies } : undefined;
}

/** Joins rows with those of another page, in order; a row in both is kept once. */
export function joined(
  rows: readonly LogRow[],
  page: readonly LogRow[],
  direction: Direction,
): readonly LogRow[] {
  const known = new Set(rows.map(({ key }) => key));
  const fresh = page.filter(({ key }) => !known.has(key));
  return fresh.length === 0 ? rows : sorted([...rows, ...fresh], direction);
}
