import { parseBytes } from '../values/bytes.js';
import { parseGoDuration } from '../values/go-duration.js';
import { parsePromDuration } from '../values/prom-duration.js';
import type { CharReader } from './char-reader.js';

const durationTail = /^[\p{N}nsum\u00b5hdwy.]+/u;
const bytesTail = /^[\p{N}BikKMGTP.]+/u;
/** Longer than any meaningful duration or size; bounds the lookahead. */
const maxTail = 256;

/** Reads on after a number (or `-`) if that gives a duration; otherwise leaves the reader where it is. */
export function scanDuration(reader: CharReader, head: string): bigint | undefined {
  return scanTail(reader, head, durationTail, (text) => {
    const parsed = parsePromDuration(text);
    return parsed.ok ? parsed.nanoseconds : parseGoDuration(text);
  });
}

/** Reads on after a number if that gives a size in bytes. */
export function scanBytes(reader: CharReader, head: string): number | undefined {
  return scanTail(reader, head, bytesTail, parseBytes);
}

function scanTail<T>(
  reader: CharReader,
  head: string,
  pattern: RegExp,
  parse: (text: string) => T | undefined,
): T | undefined {
  const tail = pattern.exec(reader.rest(maxTail))?.[0];
  if (tail === undefined) return undefined;
  reader.inspect(tail.length);
  const value = parse(head + tail);
  if (value === undefined) return undefined;
  reader.skipOver(tail);
  return value;
}
