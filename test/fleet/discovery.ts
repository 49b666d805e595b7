import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dnsServer, type Zone } from '../plugins/peer-cache/peers/dns-server.js';
import type { Discovery } from './fleet.js';
import { Wire } from './wire.js';

export const discoveries = ['static', 'dns', 'srv', 'http'] as const;

/** Short enough that a fault is noticed within a trial. */
const often = '-peer-discovery-interval=500ms';

/** Creates a peer discovery by its name in `-peer-discovery`. */
export async function discoveryOf(name: string, size: number): Promise<Discovery> {
  if (name === 'static') return staticDiscovery(size);
  if (name === 'dns' || name === 'srv') return dnsDiscovery(name);
  if (name === 'http') return httpDiscovery();
  throw new Error(`there is no discovery ${name}; there are ${discoveries.join(', ')}`);
}

/** A flag lists all replicas, including those that do not run yet. */
async function staticDiscovery(size: number): Promise<Discovery> {
  const wires = await Promise.all(Array.from({ length: size }, () => Wire.open()));
  const addresses = wires.map(({ address }) => address).join(',');
  return {
    openWire: (number) => {
      const wire = wires[number];
      return wire === undefined ? Promise.reject(new Error(`there are ${size}`)) : Promise.resolve(wire);
    },
    flags: () => ['-peer-discovery=static', `-peer-static=${addresses}`],
    tell: () => undefined,
    close: () => undefined,
  };
}

/** Runs a DNS server. Addresses of A records imply port 3100, so each replica has its own loopback address. */
async function dnsDiscovery(type: 'dns' | 'srv'): Promise<Discovery> {
  const zone: Zone = { a: new Map(), srv: new Map() };
  const closings: (() => void)[] = [];
  const server = await dnsServer({ teardown: (close) => void closings.push(() => void close()) }, zone);
  return {
    openWire: (number) => (type === 'dns' ? Wire.open(`127.0.0.${number + 11}`, 3100) : Wire.open()),
    flags: () => [
      often,
      `-peer-discovery=${type}`,
      `-peer-dns-servers=${server}`,
      type === 'dns' ? '-peer-dns=peers.fleet.test' : '-peer-srv=_http._tcp.fleet.test',
    ],
    tell: (addresses) => {
      const members = addresses.map((address) => address.split(':', 2));
      zone.a.set(
        'peers.fleet.test',
        members.map(([host = '']) => host),
      );
      zone.srv.set(
        '_http._tcp.fleet.test',
        members.map(([host = '', port]) => ({ host, port: Number(port) })),
      );
    },
    close: () => {
      for (const close of closings) close();
    },
  };
}

/** A page that lists the replicas in the format of Prometheus HTTP service discovery. */
async function httpDiscovery(): Promise<Discovery> {
  let told: readonly string[] = [];
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify([{ targets: told, labels: { az: 'a' } }]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an address object.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/peers`;
  return {
    openWire: () => Wire.open(),
    flags: () => [often, '-peer-discovery=http', `-peer-http-url=${url}`],
    tell: (addresses) => {
      told = addresses;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
