import type { PageExplanation } from './wire.js';

/** A piece of a line; `isMatch` where a filter of the query found it. */
export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

export type Marker = (line: string) => readonly Piece[];

/** Limits of the searched part of a line, and of the marked matches: a page has many lines. */
const mostSearched = 2_000;
const mostFound = 40;
/** A line that takes longer is the last that is marked: the page has others to draw. */
const longestMs = 5;

/** Finds what line filters look for. Texts and patterns come from the server, which leaves out what would take long to find. */
export function markerOf(
  marks: PageExplanation['marks'],
  nowMs: () => number = () => performance.now(),
): Marker {
  let patterns = marks.flatMap((mark) => patternOf(mark) ?? []);
  return (line) => {
    if (patterns.length === 0) return [{ text: line, isMatch: false }];
    const startedMs = nowMs();
    const pieces = split(line, patterns);
    if (nowMs() - startedMs > longestMs) patterns = [];
    return pieces;
  };
}

function patternOf(mark: PageExplanation['marks'][number]): RegExp | undefined {
  try {
    return mark.kind === 'pattern'
      ? new RegExp(mark.source, mark.flags)
      : new RegExp(mark.text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), mark.ignoresCase ? 'giu' : 'gu');
  } catch {
    // A pattern that this browser does not take marks nothing.
    return undefined;
  }
}

function split(line: string, patterns: readonly RegExp[]): readonly Piece[] {
  const searched = line.slice(0, mostSearched);
  const spans: { from: number; to: number }[] = [];
  for (const pattern of patterns) {
    for (const found of searched.matchAll(pattern)) {
      if (found[0].length > 0) spans.push({ from: found.index, to: found.index + found[0].length });
      if (spans.length >= mostFound) break;
    }
  }
  spans.sort((a, b) => a.from - b.from || b.to - a.to);
  const pieces: Piece[] = [];
  let at = 0;
  for (const { from, to } of spans) {
    if (to <= at) continue;
    const begin = Math.max(from, at);
    if (begin > at) pieces.push({ text: line.slice(at, begin), isMatch: false });
    pieces.push({ text: line.slice(begin, to), isMatch: true });
    at = to;
  }
  if (at < line.length || pieces.length === 0) pieces.push({ text: line.slice(at), isMatch: false });
  return pieces;
}
