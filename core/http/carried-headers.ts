/**
 * Headers in WebSocket sub-protocols: a page cannot set the headers of a WebSocket request, but it can offer sub-protocols. The sub-protocol
 * `ref-proxy.tenant.<value in base64url>` carries the header that `headerNames` lists under `tenant`.
 */
import type { IncomingMessage } from 'node:http';
import { headerNames } from '../wire/routes-table.js';

const prefix = 'ref-proxy.';
const namesByKey: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(headerNames));

/** Decodes the headers in the sub-protocols of a request, without values that are invalid in a header. */
export function carriedHeaders({ headers }: IncomingMessage): ReadonlyMap<string, string> {
  const carried = new Map<string, string>();
  for (const protocol of (headers['sec-websocket-protocol'] ?? '').split(',')) {
    const [, key = '', encoded = ''] = /^ref-proxy\.(\w+)\.([\w-]+)$/.exec(protocol.trim()) ?? [];
    const name = namesByKey.get(key)?.[0];
    // The bytes of a header, as Node reads them.
    const value = Buffer.from(encoded, 'base64url').toString('latin1');
    if (name !== undefined && /^[\x20-\x7E\x80-\xFF]+$/.test(value)) carried.set(name, value);
  }
  return carried;
}

/** The sub-protocol to answer with: the first that carries no header, since an answer must not repeat a secret; false for none. */
export function chosenProtocol(offered: Iterable<string>): string | false {
  for (const protocol of offered) if (!protocol.startsWith(prefix)) return protocol;
  return false;
}
