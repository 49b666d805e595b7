import { isIPv4, isIPv6 } from 'node:net';

/** A listen address; without a host it means every interface. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/**
 * Reads `:3100`, `127.0.0.1:0`, `localhost:3100`, `[::1]:3100` or `[fe80::1%eth0]:3100`; undefined for anything else. Port 0 lets the system
 * choose.
 */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([^\]\s]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, v6, name = '', port] = match;
  // A text that looks like an IPv4 address must be one.
  const isHost = v6 === undefined ? !/^[\d.]+$/.test(name) || isIPv4(name) : isIPv6(v6);
  if (!isHost || Number(port) > 65_535) return undefined;
  const host = v6 ?? name;
  return { host: host === '' ? undefined : host, port: Number(port) };
}

/** Tells whether the address can only be reached from this machine. */
export function isLoopback(address: ListenAddress): boolean {
  const { host } = address;
  return host === 'localhost' || host === '::1' || (host?.startsWith('127.') ?? false);
}
