import { parseIpMatcher } from './ip-matcher.js';
import type { LineTest } from './types.js';
import type { Meter } from './meter.js';

const shortestIPv4 = 7;
/** Nanoseconds per character of a text that consists of addresses. */
const scanCost = 150;

/** Compiles `ip("...")` in a line filter: matches a line that contains a covered address. */
export function compileIpFilter(text: string, meter: Meter): LineTest {
  const matches = parseIpMatcher(text);
  return (line) => {
    meter.charge(scanCost * line.length);
    for (let at = 0; at < line.length; at += 1) {
      const end = looksLikeIPv4(line, at)
        ? endOfRun(line, at, isIPv4Character)
        : looksLikeIPv6(line, at)
          ? endOfRun(line, at, isIPv6Character)
          : 0;
      if (end === 0) continue;
      if (matches(line.slice(at, end))) return true;
      at = end;
    }
    return false;
  };
}

/** One to three digits and a dot. */
function looksLikeIPv4(line: string, at: number): boolean {
  if (line.length - at < shortestIPv4 || !isDigit(line.charCodeAt(at))) return false;
  for (let next = at + 1; next <= at + 3; next += 1) {
    const code = line.charCodeAt(next);
    if (code === 0x2e) return true;
    if (!isDigit(code)) return false;
  }
  return false;
}

/** Up to four hexadecimal digits and a colon, or two colons and a digit. */
function looksLikeIPv6(line: string, at: number): boolean {
  if (line.charCodeAt(at) === 0x3a)
    return line.charCodeAt(at + 1) === 0x3a && isHexDigit(line.charCodeAt(at + 2));
  for (let next = at; next <= at + 4; next += 1) {
    const code = line.charCodeAt(next);
    if (code === 0x3a) return next > at;
    if (!isHexDigit(code)) return false;
  }
  return false;
}

function endOfRun(line: string, start: number, belongs: (code: number) => boolean): number {
  let end = start;
  while (end < line.length && belongs(line.charCodeAt(end))) end += 1;
  return end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

function isIPv4Character(code: number): boolean {
  return isDigit(code) || code === 0x2e;
}

function isIPv6Character(code: number): boolean {
  return isHexDigit(code) || code === 0x2e || code === 0x3a;
}
