import { compareNs, sorted, type LogRow } from './log-rows.js';
import { mostLines, type Direction } from './query-state.js';
import type { NsRange } from './time-range.js';

/** Maximum number of lines that the page holds. */
export const mostRows = 50_000;
/** Number of lines up to which a page of lines grows with what is loaded already. */
const grownPage = 1_000;

/** Number of lines to load next: as many as there are, so that long reading needs few requests; 0 if the page is full. */
export function pageSize(loaded: number, limit: number): number {
  return Math.min(Math.max(limit, Math.min(loaded, grownPage)), mostRows - loaded);
}

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
  if (last === undefined || limit < 1) return undefined;
  const edge = BigInt(last.ns);
  const known = rows.filter(({ ns }) => ns === last.ns).length;
  const skipsTies = known >= mostLines;
  const asked = skipsTies ? limit : Math.min(known + limit, mostLines);
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
  const [first, last] = [page[0], page.at(-1)];
  if (first === undefined || last === undefined) return rows;
  const [from, to] = compareNs(first.ns, last.ns) <= 0 ? [first.ns, last.ns] : [last.ns, first.ns];
  // Only rows within the time of the page can be in both.
  const near = rows.filter(({ ns }) => compareNs(ns, from) >= 0 && compareNs(ns, to) <= 0);
  const known = new Set(near.map(({ key }) => key));
  const fresh = page.filter(({ key }) => !known.has(key));
  return fresh.length === 0 ? rows : sorted([...rows, ...fresh], direction);
}
