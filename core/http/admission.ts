import { createHash, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../base/caller.js';
import { apiError } from '../base/errors/table.js';
import type { ServerOptions } from '../base/options.gen.js';
import { headerNames, type ListenerName, type Route } from '../wire/routes-table.js';
import { createBrowserGuard } from './browser-guard.js';
import { firstHeader } from './caller.js';

/**
 * Throws an ApiError for a request, of any kind, that a listener must not serve: one that another website may have triggered in a browser,
 * or one for an admin route without the admin token.
 */
export type Admission = (route: Route, caller: Caller) => void;

export function createAdmission(
  listener: ListenerName,
  options: Pick<ServerOptions, 'httpAllowedHosts' | 'adminAllowedHosts' | 'adminAuthToken'>,
): Admission {
  const guard = createBrowserGuard(listener, options);
  const gate = adminGate(options.adminAuthToken);
  return (route, caller) => {
    guard(route, caller);
    if (route.listener === 'admin' && route.isOpen !== true) gate(caller);
  };
}

/**
 * Checks that a caller may use admin and debug routes, or throws. Without a token, only the listener's address protects them
 * (docs/protocol/tenants.md#admin-token).
 */
function adminGate(token: string | undefined): (caller: Caller) => void {
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
