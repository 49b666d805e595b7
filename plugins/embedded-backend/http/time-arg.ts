import { parseDate, parseDurationNs, parseUnixTime } from '../logsql/index.js';
import { badRequest } from './errors.js';

/** The limits of an int64 of nanoseconds: 1677-09-21 and 2262-04-11. */
export const MIN_NS = -(2n ** 63n);
export const MAX_NS = 2n ** 63n - 1n;

/**
 * Parses a `start`, `end` or `time` argument or an ingested time to nanoseconds: Unix time in s, ms, us or ns (by magnitude), RFC3339,
 * partial dates, `now`, `now-5m`, `-5m`. Undefined for anything else.
 */
export function parseTime(text: string, nowNs: bigint): bigint | undefined {
  if (text === 'now') return nowNs;
  const absolute = parseDate(text)?.ns ?? parseUnixTime(text);
  if (absolute !== undefined) return absolute;
  const relative = parseDurationNs(text.replace(/^now\+?/, ''));
  if (relative === undefined) return undefined;
  // A bare `5m` means five minutes ago, like `-5m`; only `now+5m` looks forward.
  if (text.startsWith('now')) return nowNs + relative;
  return nowNs - (relative < 0n ? -relative : relative);
}

/** `parseTime` for a request argument: undefined if absent, HTTP 400 if malformed. */
export function parseTimeArg(name: string, text: string, nowNs: bigint): bigint | undefined {
  if (text === '') return undefined;
  const ns = beyondInt64(text) ? undefined : parseTime(text, nowNs);
  if (ns === undefined)
    throw badRequest(`cannot parse ${name}=${text}: cannot parse duration ${JSON.stringify(text)}`);
  return ns < MIN_NS ? MIN_NS : ns > MAX_NS ? MAX_NS : ns;
}

/**
 * True for integers beyond 64 bits: the real server parses an integer as a time only if it fits 64 bits, and otherwise as a duration, which
 * is then invalid.
 */
function beyondInt64(text: string): boolean {
  if (!/^-?\d{19,}$/.test(text)) return false;
  const value = BigInt(text.slice(0, 40));
  return value < MIN_NS || value > MAX_NS;
}
