import { lookup, Resolver } from 'node:dns/promises';
import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import { addressOf, parseAddress } from './address.js';
import { HttpDiscovery } from './http-discovery.js';
import type { Found } from './members.js';

/** A way to find the members of a fleet. */
export interface Discovery {
  /** @throws Error when nobody knows who they are now */
  find(): Promise<readonly Found[]>;
  /** Members never change: they are found once. */
  readonly isFixed?: true;
}

/** The only port of members that are found by their addresses alone. */
const dnsPort = 3100;
const dnsTimeoutMs = 2_000;

/** The way that the options name. Throws an Error for options that lack what it needs. */
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
    case 'http':
      return new HttpDiscovery(needed(peerHttpUrl, 'http', '-peer-http-url'));
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

/** Asks the servers of the option; undefined for those of the system. */
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
  // The system's own way knows its search domains too.
  return (await lookup(name, { all: true, family: 4 })).map(({ address }) => address);
}
