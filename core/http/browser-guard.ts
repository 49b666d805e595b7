/** Prevents other websites from sending requests through the browser of a user who can reach the proxy. */
import { isIP } from 'node:net';
import type { Caller } from '../base/caller.js';
import { apiError } from '../base/errors/table.js';
import type { ServerOptions } from '../base/options.gen.js';
import type { ListenerName, HttpMethod, Route } from '../wire/routes-table.js';

/** Throws an ApiError for a request that another website may have triggered in a browser. */
export type BrowserGuard = (route: Route, caller: Caller) => void;

/**
 * Creates the guard of a listener. Without a token, the admin listener trusts every client that can reach it, so pages of other origins may
 * not send any request there; elsewhere they may only read, as in Loki.
 */
export function createBrowserGuard(
  listener: ListenerName,
  { httpAllowedHosts, adminAllowedHosts }: Pick<ServerOptions, 'httpAllowedHosts' | 'adminAllowedHosts'>,
): BrowserGuard {
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
