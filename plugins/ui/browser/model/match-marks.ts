import type { PageExplanation } from './wire.js';

/** A piece of a line; `isMatch` if a filter of the query matched it. */
export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

export type Marker = (line: string) => readonly Piece[];

/** Maximum length of the searched part of a line, and maximum number of marks: a page has many lines. */
const maxSearched = 2_000;
const maxFound = 40;
/** If marking a line takes longer, it is the last line to be marked. */
const maxMs = 5;

/**
 * Creates the function that finds the matches of line filters. Texts and patterns come from the server, which omits those that would be
 * slow.
 */
export function markerOf(
  marks: PageExplanation['marks'],
  nowMs: () => number = () => performance.now(),
): Marker {
  let patterns = marks.flatMap((mark) => patternOf(mark) ?? []);
  return (line) => {
    if (patterns.length === 0) return [{ text: line, isMatch: false }];
    const startedMs = nowMs();
    const pieces = split(line, patterns);
    if (nowMs() - startedMs > maxMs) patterns = [];
    return pieces;
  };
}

function patternOf(mark: PageExplanation['marks'][number]): RegExp | undefined {
  try {
    return mark.kind === 'pattern'
      ? new RegExp(mark.source, mark.flags)
      : new RegExp(mark.text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), mark.ignoresCase ? 'giu' : 'gu');
  } catch {
    // A pattern that this browser does not support marks nothing.
    return undefined;
  }
}

function split(line: string, patterns: readonly RegExp[]): readonly Piece[] {
  const searched = line.slice(0, maxSearched);
  const spans: { from: number; to: number }[] = [];
  for (const pattern of patterns) {
    for (const found of searched.matchAll(pattern)) {
      if (found[0].length > 0) spans.push({ from: found.index, to: found.index + found[0].length });
      if (spans.length >= maxFound) break;
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
