import { createHash, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../base/caller.js';
import { apiError } from '../base/errors/table.js';
import { firstHeader } from './caller.js';
import { headerNames } from '../wire/routes-table.js';

/**
 * Lets a caller through to admin and debug routes, or throws; without a token the listener's address is the protection
 * (docs/protocol/tenants.md#admin-token).
 */
export function adminGate(token: string | undefined): (caller: Caller) => void {
  if (token === undefined) return () => undefined;
  const wanted = digest(token);
  return (caller) => {
    const bearer = /^Bearer\s+(.+)$/i.exec(caller.headers.get('authorization') ?? '')?.[1] ?? '';
    const shown = firstHeader(caller.headers, headerNames.adminToken) || bearer;
    // Digests have one length, so that the comparison tells nothing of the token's.
    if (!timingSafeEqual(digest(shown), wanted)) throw apiError('adminAuthRequired', {});
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
