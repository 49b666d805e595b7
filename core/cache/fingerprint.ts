import { createHash } from 'node:crypto';
import type { Caller } from '../base/caller.js';

/** Which headers and cookies of a client are forwarded to the backend, so that answers may depend on them. */
export interface Forwarding {
  readonly forwardAuthorization: boolean;
  readonly forwardHeaders: readonly string[];
  /** Names, or `*` for all. */
  readonly forwardCookies: readonly string[];
}

/** A text that is equal for headers with equal forwarded credentials; undefined when nothing is forwarded. */
export type Fingerprint = (headers: Caller['headers']) => string | undefined;

/**
 * Computes the fingerprint of forwarded credentials: the first 16 hex digits of a SHA-256 over the forwarded headers and cookies
 * (docs/protocol/operation.md#cache-keys). It is part of every cache key.
 */
export function createFingerprint(forwarding: Forwarding): Fingerprint {
  const names = new Set(forwarding.forwardHeaders.map((name) => name.trim().toLowerCase()));
  if (forwarding.forwardAuthorization) names.add('authorization');
  const cookies = new Set(forwarding.forwardCookies);
  if (names.size === 0 && cookies.size === 0) return () => undefined;
  const sorted = [...names].sort();
  return (headers) => {
    const parts = sorted.flatMap((name) => pairOf(`h:${name}`, headers.get(name)));
    const cookieHeader = cookies.size === 0 ? undefined : headers.get('cookie');
    if (cookieHeader !== undefined) parts.push(...cookiePairs(cookieHeader, cookies));
    return parts.length === 0
      ? undefined
      : createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
  };
}

type Pair = readonly [name: string, value: string];

function pairOf(name: string, value: string | undefined): Pair[] {
  return value === undefined ? [] : [[name, value]];
}

function cookiePairs(header: string, wanted: ReadonlySet<string>): readonly Pair[] {
  const all = header.split(';').map((part): Pair => {
    const [name = '', ...value] = part.split('=');
    // A malformed cookie has no name, so it always counts: a redundant cache entry is better than one shared wrongly.
    return value.length === 0 ? ['?', name.trim()] : [`c:${name.trim()}`, value.join('=').trim()];
  });
  // The order of cookies does not matter, except between cookies of the same name: sort() is stable.
  return all
    .filter(([name]) => name === '?' || wanted.has('*') || wanted.has(name.slice(2)))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
