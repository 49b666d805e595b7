import type { IncomingMessage } from 'node:http';
import type { Caller } from '../base/caller.js';
import { headerNames } from '../wire/routes-table.js';

/** Describes the caller from the connection and the request headers; `more` are headers that count unless the request has them itself. */
export function callerOf(request: IncomingMessage, more?: ReadonlyMap<string, string>): Caller {
  const own = headersOf(request);
  const headers = more === undefined ? own : new Map([...more, ...own]);
  const orgId = firstHeader(headers, headerNames.tenant);
  return {
    method: request.method ?? 'GET',
    address: plainAddress(request.socket.remoteAddress ?? ''),
    headers,
    orgId: orgId === '' ? undefined : orgId,
    categorizeLabels: listOf(firstHeader(headers, headerNames.encodingFlags)).includes('categorize-labels'),
    isDrilldown: listOf(firstHeader(headers, headerNames.queryTags).toLowerCase()).includes(
      'source=grafana-lokiexplore-app',
    ),
  };
}

/** Parsed from the raw headers, because Node's own header objects threw for a header named `__proto__` before 20.20.2 and 22.22.2. */
function headersOf({ rawHeaders }: IncomingMessage): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    const value = rawHeaders[at + 1] ?? '';
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** The value of the first of these headers that is present, or an empty text. */
export function firstHeader(headers: ReadonlyMap<string, string>, names: readonly string[]): string {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== undefined) return value;
  }
  return '';
}

function listOf(value: string): readonly string[] {
  return value.split(',').map((item) => item.trim());
}

/** Removes the ::ffff: prefix by which IPv4 clients of a dual-stack socket appear; logs and rate limits need 1.2.3.4. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
