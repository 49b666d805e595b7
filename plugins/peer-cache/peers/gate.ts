import { createHash, timingSafeEqual } from 'node:crypto';
import { apiError, type Caller } from '../../../core/plugin/index.js';

export const tokenHeader = 'x-peer-token';

/**
 * Admits other replicas or throws: those that show the token or, where there is none, those with the address of a member.
 * @param token undefined for none
 */
export function peerGate(
  token: string | undefined,
  isMember: (ip: string) => boolean,
): (caller: Caller) => void {
  const wanted = token === undefined ? undefined : digest(token);
  return ({ headers, address }) => {
    const isKnown =
      wanted === undefined
        ? isMember(address)
        : timingSafeEqual(digest(headers.get(tokenHeader) ?? ''), wanted);
    if (!isKnown) throw apiError('peerAuthRequired', {});
  };
}

/** Digests have equal lengths, so that comparing them does not tell the token's. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
