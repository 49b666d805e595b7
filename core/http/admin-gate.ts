import { createHash, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../base/caller.js';
import { apiError } from '../base/errors/table.js';
import { firstHeader } from './caller.js';
import { headerNames } from '../wire/routes-table.js';

/**
 * Admits a caller to admin and debug routes or throws; without a token, only the listener's address protects them
 * (docs/protocol/tenants.md#admin-token).
 */
export function adminGate(token: string | undefined): (caller: Caller) => void {
  if (token === undefined) return () => undefined;
  const wanted = digest(token);
  return (caller) => {
    const bearer = /^Bearer\s+(.+)$/i.exec(caller.headers.get('authorization') ?? '')?.[1] ?? '';
    const shown = firstHeader(caller.headers, headerNames.adminToken) || bearer;
    // Digests have equal lengths, so the comparison does not reveal the token's length.
    if (!timingSafeEqual(digest(shown), wanted)) throw apiError('adminAuthRequired', {});
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
