import { addressOf, parseAddress } from './address.js';
import type { Found } from './members.js';

const timeoutMs = 5_000;
/** Far more than any fleet needs. */
const maxBytes = 1024 * 1024;

/** Asks an address for the members. */
export class HttpDiscovery {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async find(): Promise<readonly Found[]> {
    const { got } = await import('got');
    const tooLong = new AbortController();
    const call = got(this.#url, {
      timeout: { request: timeoutMs },
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      signal: tooLong.signal,
    });
    void call.on('downloadProgress', ({ transferred }) => {
      if (transferred > maxBytes) tooLong.abort();
    });
    const { statusCode, body } = await call;
    if (statusCode !== 200) throw new Error(`-peer-http-url answered with status ${statusCode}`);
    const document: unknown = JSON.parse(body);
    const members = membersIn(document);
    if (members === undefined) throw new Error('-peer-http-url answered with nothing like a list of members');
    return members;
  }
}

/**
 * Reads a list of members in any of four shapes: addresses; `peers` with addresses; groups with `targets` and `labels`, of which `az` or
 * `availability_zone` is the zone; entries of a catalog with `ServiceAddress` (or `Address`) and `ServicePort`. Undefined for anything else.
 */
export function membersIn(document: unknown): readonly Found[] | undefined {
  const list = isObject(document) && !Array.isArray(document) ? document['peers'] : document;
  if (!Array.isArray(list)) return undefined;
  const members: Found[] = [];
  for (const item of list as readonly unknown[]) {
    const found = membersOf(item);
    if (found === undefined) return undefined;
    members.push(...found);
  }
  return members;
}

function membersOf(item: unknown): readonly Found[] | undefined {
  if (typeof item === 'string') return allFound([item]);
  if (!isObject(item)) return undefined;
  const { targets, labels, ServiceAddress, Address, ServicePort } = item;
  if (Array.isArray(targets)) {
    const zone = isObject(labels) ? (labels['az'] ?? labels['availability_zone']) : undefined;
    return allFound(targets, typeof zone === 'string' && zone !== '' ? zone : undefined);
  }
  // The address of a service is empty where it is that of its machine.
  const host = ServiceAddress === '' || ServiceAddress === undefined ? Address : ServiceAddress;
  return typeof host === 'string' && typeof ServicePort === 'number'
    ? allFound([addressOf(host, ServicePort)])
    : undefined;
}

function allFound(texts: readonly unknown[], zone?: string): readonly Found[] | undefined {
  const found: Found[] = [];
  for (const text of texts) {
    const address = typeof text === 'string' ? parseAddress(text) : undefined;
    // A service elsewhere does not say which sockets of this machine get requests with the token.
    if (address?.host === undefined) return undefined;
    found.push(zone === undefined ? { address } : { address, zone });
  }
  return found;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
