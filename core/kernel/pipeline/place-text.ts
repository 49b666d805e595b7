import type { SourcePosition } from './types.js';

/** Where a finding points, in words: the flag or variable that was written, or a place in a file. */
export function placeText({ given, file, line, column }: SourcePosition): string {
  return given ?? `${file}:${line}:${column}`;
}
