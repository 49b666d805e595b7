/** Decides which requests a listener serves. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Caller } from '../base/caller.js';
import { apiError } from '../base/errors/table.js';
import type { ServerOptions } from '../base/options.gen.js';
import { headerNames, type HttpMethod, type ListenerName, type Route } from '../wire/routes-table.js';
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
  const guard = browserGuard(listener, options);
  const gate = adminGate(options.adminAuthToken);
  return (route, caller) => {
    guard(route, caller);
    if (route.listener === 'admin' && route.isOpen !== true) gate(caller);
  };
}

/**
 * Prevents other websites from sending requests through the browser of a user who can reach the proxy. Without a token, the admin listener
 * trusts every client that can reach it, so pages of other origins may not send any request there; elsewhere they may only read, as in Loki.
 */
function browserGuard(
  listener: ListenerName,
  { httpAllowedHosts, adminAllowedHosts }: Pick<ServerOptions, 'httpAllowedHosts' | 'adminAllowedHosts'>,
): Admission {
  const isAdmin = listener === 'admin';
  const names = isAdmin ? adminAllowedHosts : listener === 'main' ? httpAllowedHosts : [];
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  const flag = isAdmin ? '-ui.allowed-hosts' : '-http.allowed-hosts';
  const holdsHosts = isAdmin || allowed.size > 0;
  return (route, caller) => {
    if (holdsHosts) refuseOtherHosts(caller, allowed, flag);
    // The user interface itself may be opened by a link.
    if (changes(route, caller.method) || (isAdmin && route.isOpen !== true))
      refuseOtherOrigins(caller, allowed);
  };
}

const safe: ReadonlySet<string> = new Set<HttpMethod | 'HEAD'>(['GET', 'HEAD', 'OPTIONS']);

function changes({ readsByPost }: Route, method: string): boolean {
  return !safe.has(method) && readsByPost !== true;
}

/**
 * Rejects unknown host names. A page could have changed its DNS entry to this machine (DNS rebinding), and could then read the answers.
 * Addresses and localhost are safe.
 */
function refuseOtherHosts({ headers }: Caller, allowed: ReadonlySet<string>, flag: string): void {
  const name = hostName(headers.get('host') ?? '');
  const isKnown = name === '' || isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost');
  if (!isKnown && !allowed.has(name)) throw apiError('hostNotAllowed', { host: name, flag });
}

/** Rejects requests of other origins. Clients other than browsers send neither of these headers; newer browsers send the first. */
function refuseOtherOrigins({ headers }: Caller, allowed: ReadonlySet<string>): void {
  const site = headers.get('sec-fetch-site');
  if (site === 'same-origin' || site === 'none') return;
  const origin = headers.get('origin');
  if (site === undefined && origin === undefined) return;
  const host = site === undefined && origin !== undefined ? hostOf(origin) : undefined;
  const isOwn =
    host !== undefined && (host === headers.get('host')?.toLowerCase() || allowed.has(hostName(host)));
  if (!isOwn) throw apiError('crossSiteRequest', {});
}

/** The host and port of an origin; undefined for an origin without one, such as `null`. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1];
}

/** The name or address in a Host header, without port and without brackets. */
function hostName(header: string): string {
  const text = header.toLowerCase();
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(text)?.[1];
  return bracketed ?? text.replace(/:\d*$/, '').replace(/\.$/, '');
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
