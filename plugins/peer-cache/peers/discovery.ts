import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Logger } from '../../../core/base/logger.js';
import { within } from '../../../core/base/time/within.js';
import type { Meters } from '../../../core/plugin/index.js';
import type { Found, Members } from './members.js';
import type { peerMetrics } from './metrics.js';
import { addressOf, parseAddress } from './client.js';
import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import { startTimer } from '../../../core/base/time/waits.js';

/** A way to find the members of a fleet. */
export interface Discovery {
  /** @throws Error when the members cannot be found now */
  find(): Promise<readonly Found[]>;
  /** Set if members never change: they are found once. */
  readonly isFixed?: true;
}

/** The port of members that are found by their IP addresses alone. */
const dnsPort = 3100;
const dnsTimeoutMs = 2_000;

/** The discovery that the options select. Throws an Error for incomplete options. */
export function discoveryOf(
  mode: NonNullable<PeerCacheOptions['peerDiscovery']>,
  options: PeerCacheOptions,
): Discovery {
  const { peerStatic, peerDns, peerSrv, peerHttpUrl } = options;
  switch (mode) {
    case 'static': {
      const members = peerStatic.map((text) => foundAt('-peer-static', text));
      return { find: () => Promise.resolve(members), isFixed: true };
    }
    case 'dns': {
      const name = needed(peerDns, 'dns', '-peer-dns');
      const resolver = resolverOf(options);
      return {
        find: async () =>
          (await addressesOf(name, resolver)).map((ip) => foundAt('DNS', addressOf(ip, dnsPort))),
      };
    }
    case 'srv': {
      const name = needed(peerSrv, 'srv', '-peer-srv');
      const resolver = resolverOf(options) ?? new Resolver({ timeout: dnsTimeoutMs, tries: 2 });
      return {
        find: async () =>
          (await resolver.resolveSrv(name)).map((record) =>
            foundAt('DNS', addressOf(record.name, record.port)),
          ),
      };
    }
    case 'http': {
      const url = needed(peerHttpUrl, 'http', '-peer-http-url');
      return { find: () => membersAt(url) };
    }
  }
}

function foundAt(source: string, text: string): Found {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`${source}: ${text} is not an address such as 10.0.0.1:3100`);
  return { address };
}

function needed(value: string | undefined, mode: string, flag: string): string {
  if (value === undefined) throw new Error(`-peer-discovery=${mode} needs ${flag}`);
  return value;
}

/** A resolver for the DNS servers of the option; undefined for the system's. */
function resolverOf({ peerDnsServers }: PeerCacheOptions): Resolver | undefined {
  if (peerDnsServers.length === 0) return undefined;
  const resolver = new Resolver({ timeout: dnsTimeoutMs, tries: 2 });
  try {
    resolver.setServers(peerDnsServers);
  } catch (error) {
    throw new Error(`-peer-dns-servers: ${peerDnsServers.join(',')} are not addresses such as 10.0.0.10:53`, {
      cause: error,
    });
  }
  return resolver;
}

async function addressesOf(name: string, resolver: Resolver | undefined): Promise<readonly string[]> {
  if (resolver !== undefined) return resolver.resolve4(name);
  // The system's lookup also applies search domains.
  return (await lookup(name, { all: true, family: 4 })).map(({ address }) => address);
}

const timeoutMs = 5_000;
/** Maximum size of a document, far more than any fleet needs. */
const maxBytes = 1024 * 1024;

/** Fetches the list of members from a URL. */
async function membersAt(url: string): Promise<readonly Found[]> {
  const { got } = await import('got');
  const tooLong = new AbortController();
  const call = got(url, {
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
  const members = membersIn(JSON.parse(body));
  if (members === undefined) throw new Error('the response of -peer-http-url is not a list of members');
  return members;
}

/**
 * Reads a list of members in any of four formats: addresses; `peers` with addresses; groups with `targets` and `labels`, of which `az` or
 * `availability_zone` is the zone; entries of a catalog with `ServiceAddress` (or `Address`) and `ServicePort`. Undefined for anything
 * else.
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
  // A service without an address of its own has that of its machine.
  const host = ServiceAddress === '' || ServiceAddress === undefined ? Address : ServiceAddress;
  return typeof host === 'string' && typeof ServicePort === 'number'
    ? allFound([addressOf(host, ServicePort)])
    : undefined;
}

function allFound(texts: readonly unknown[], zone?: string): readonly Found[] | undefined {
  const found: Found[] = [];
  for (const text of texts) {
    const address = typeof text === 'string' ? parseAddress(text) : undefined;
    // Only TCP addresses: a remote service must not choose local sockets that receive requests with the token.
    if (address?.host === undefined) return undefined;
    found.push(zone === undefined ? { address } : { address, zone });
  }
  return found;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

export interface WatchSettings {
  readonly discovery: Discovery;
  readonly members: Members;
  readonly everyMs: number;
  /** True if the IP addresses of members are needed, to identify callers. */
  readonly needsIps: boolean;
  readonly log: Logger;
  readonly meters: Meters<typeof peerMetrics>;
}

const maxMembers = 1_000;

/** Refreshes the list of members periodically. If that fails, the last list stays. */
export class Watch {
  readonly #settings: WatchSettings;
  #timer: NodeJS.Timeout | undefined;
  #shown = '';
  #isFailing = false;
  #isStopped = false;

  constructor(settings: WatchSettings) {
    this.#settings = settings;
  }

  /** Waits for the first lookup, which may find no member. */
  async start(): Promise<void> {
    await this.#look();
    this.#wait();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    const { discovery, everyMs } = this.#settings;
    if (this.#isStopped || (discovery.isFixed === true && !this.#isFailing)) return;
    this.#timer = startTimer(() => void this.#look().then(() => this.#wait()), everyMs).unref();
  }

  async #look(): Promise<void> {
    const { discovery, members, log, meters, needsIps } = this.#settings;
    try {
      const found = await within(timeoutMs, discovery.find(), notFound);
      if (found.length === 0) throw new Error('no members were found');
      if (found.length > maxMembers) throw new Error(`more than ${maxMembers} members were found`);
      const ips = needsIps ? await ipsOf(found) : [];
      if (this.#isStopped) return;
      members.update(found, ips);
      if (this.#isFailing) log.info('peer discovery works again');
      this.#isFailing = false;
      this.#tell(found);
    } catch (error) {
      meters.peer_cache_discovery_errors_total.add(1, {});
      if (!this.#isFailing)
        log.warn('peer discovery failed, so the last known members stay in use', {
          peers: members.peers.length,
          'error.message': error instanceof Error ? error.message : String(error),
        });
      this.#isFailing = true;
    }
  }

  #tell(found: readonly Found[]): void {
    const { log, members } = this.#settings;
    const shown = members.peers.map(({ address }) => address.text).sort();
    if (shown.join() === this.#shown) return;
    this.#shown = shown.join();
    log.info('members of the fleet', { self: members.self.text, peers: shown });
    // If it were listed under another name, it would send requests to itself.
    if (!found.some(({ address }) => address.text === members.self.text))
      log.warn(
        'this replica is not among the discovered members: set -peer-self to the address that discovery returns for it',
        {
          self: members.self.text,
        },
      );
  }
}

async function ipsOf(found: readonly Found[]): Promise<readonly string[]> {
  const hosts = found.flatMap(({ address: { host } }) => host ?? []);
  const all = await Promise.all(
    hosts.map(async (host) =>
      isIP(host) > 0
        ? [host]
        : (await within(timeoutMs, lookup(host, { all: true }), notFound)).map(({ address }) => address),
    ),
  );
  return all.flat();
}

function notFound(): Error {
  return new Error(`not found within ${timeoutMs} ms`);
}
