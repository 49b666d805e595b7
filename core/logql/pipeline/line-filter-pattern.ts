import { Meter } from './meter.js';
import type { LineTest } from './types.js';

const wildcard = '<_>';

/**
 * Compiles a pattern of `|>`: literal pieces in order, each `<_>` between them standing for one character at least; the last one
 * ends the line, the first one may stand anywhere. A piece is looked for once, from left to right, and never again further on.
 * That is how Loki reads it.
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
      // An empty piece stands at an end, or between wildcards side by side.
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
