/** A position in the query from the server's error text; line and column start at 1. */
export interface ErrorPosition {
  readonly line: number;
  readonly column: number;
}

/** The position in an error of LogQL's parser: `parse error at line 1, col 16: ...`. */
export function errorPosition(text: string): ErrorPosition | undefined {
  const found = /\bline (\d{1,6}), col (\d{1,6})\b/.exec(text);
  if (found === null) return undefined;
  const [line, column] = [Number(found[1]), Number(found[2])];
  return line > 0 && column > 0 ? { line, column } : undefined;
}

/** True for the error of a query that has no tree. */
export function isUnparsed(text: string): boolean {
  return text.startsWith('parse error');
}

/** One line of a query around a position: the text before, the word there, and the text after. */
export interface MarkedLine {
  readonly before: string;
  readonly marked: string;
  readonly after: string;
  /** Offset of the word in the whole query. */
  readonly offset: number;
}

export function markLine(query: string, { line, column }: ErrorPosition): MarkedLine {
  const lines = query.split('\n');
  const text = lines[line - 1] ?? '';
  const at = Math.min(column - 1, text.length);
  const marked = /^(?:\w+|\s+|.)/.exec(text.slice(at))?.[0] ?? '';
  const offset = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, at);
  return { before: text.slice(0, at), marked, after: text.slice(at + marked.length), offset };
}
