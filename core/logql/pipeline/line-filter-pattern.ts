import { Meter } from './meter.js';
import type { LineTest } from './types.js';

const wildcard = '<_>';

/**
 * Compiles a pattern of `|>`: literal pieces in order, each `<_>` between them matching at least one character; the last piece ends the
 * line, the first may be anywhere. As in Loki, each piece is matched at its first occurrence, without backtracking.
 */
export function compilePatternFilter(pattern: string, meter = new Meter()): LineTest {
  if (pattern === '') return (line) => line === '';
  const pieces = pattern.split(wildcard);
  const last = pieces.length - 1;
  return (line) => {
    if (line === '') return false;
    meter.charge(2 * line.length);
    let offset = 0;
    for (const [index, piece] of pieces.entries()) {
      // An empty piece comes from the start or end, or from adjacent wildcards.
      if (piece === '') {
        if (index === last && last > 0) return offset < line.length;
        continue;
      }
      const at = line.indexOf(piece, offset);
      if (at < 0) return false;
      if (index > 0 && at === offset) return false;
      offset = at + piece.length;
    }
    return offset === line.length;
  };
}
