import { parseIPv4, parseIPv6 } from '../../base/ip.js';
import type { LineTest } from './types.js';
import type { Meter } from './work-line.js';

/** Returns true if a text is an address that an `ip("...")` value covers. */
type IpMatcher = (text: string) => boolean;

interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** Maximum length of an address: six groups of IPv6 and a dotted address. */
const longestAddress = 45;

// Only the numbers of a dotted address must not start with a zero.
const leadingZero = /(?:^|[.:])0\d{1,2}\.|\.0\d{1,2}(?:\.|$)/;

/**
 * Parses the value of `ip("...")`: an address, a CIDR block or a range `a-b`. Anything else was refused by the parser and matches nothing.
 */
function parseIpMatcher(text: string): IpMatcher {
  const [low, high] = boundsOf(text);
  if (low === undefined || high === undefined || low.bits !== high.bits) return () => false;
  return (candidate) => {
    const address = parseIpAddress(candidate);
    return (
      address !== undefined &&
      address.bits === low.bits &&
      address.value >= low.value &&
      address.value <= high.value
    );
  };
}

/** Parses a plain address; undefined for anything else, including numbers with leading zeros. */
function parseIpAddress(text: string): Address | undefined {
  if (text.length > longestAddress || leadingZero.test(text)) return undefined;
  const v4 = parseIPv4(text);
  if (v4 !== undefined) return { bits: 32, value: BigInt(v4) };
  const v6 = parseIPv6(text);
  return v6 === undefined ? undefined : { bits: 128, value: v6 };
}

/**
 * A text in every dotted address that the value of `ip("...")` covers: the numbers with which all of them begin. Undefined if there are
 * none, or if it covers no dotted address.
 */
export function textOfIPv4(text: string): string | undefined {
  const [low, high] = boundsOf(text);
  if (low?.bits !== 32 || high?.bits !== 32) return undefined;
  const [from, to] = [numbersOf(low.value), numbersOf(high.value)];
  const differsAt = from.findIndex((number, index) => number !== to[index]);
  if (differsAt === 0) return undefined;
  return differsAt < 0 ? from.join('.') : `${from.slice(0, differsAt).join('.')}.`;
}

/** The first and the last dotted address that the value of `ip("...")` covers; undefined if it covers none. */
export function boundsOfIPv4(text: string): readonly [from: string, to: string] | undefined {
  const [low, high] = boundsOf(text);
  if (low?.bits !== 32 || high?.bits !== 32 || low.value > high.value) return undefined;
  return [numbersOf(low.value).join('.'), numbersOf(high.value).join('.')];
}

function numbersOf(value: bigint): readonly number[] {
  return [24n, 16n, 8n, 0n].map((shift) => Number((value >> shift) & 0xffn));
}

function boundsOf(text: string): readonly [Address | undefined, Address | undefined] {
  const dash = text.indexOf('-');
  if (dash >= 0)
    return [parseIpAddress(text.slice(0, dash).trim()), parseIpAddress(text.slice(dash + 1).trim())];
  const slash = text.indexOf('/');
  const address = parseIpAddress(slash < 0 ? text : text.slice(0, slash));
  if (slash < 0 || address === undefined) return [address, address];
  const prefix = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > address.bits) return [undefined, undefined];
  const mask = (1n << BigInt(address.bits - Number(prefix))) - 1n;
  return [
    { bits: address.bits, value: address.value & ~mask },
    { bits: address.bits, value: address.value | mask },
  ];
}

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
