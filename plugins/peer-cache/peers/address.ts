import { isIP } from 'node:net';

/** Where a member listens: `host:port`, or `unix:/path` of a socket. */
export interface Address {
  readonly text: string;
  /** Of TCP addresses; without brackets. */
  readonly host: string | undefined;
}

/** Reads an address of a member; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const trimmed = text.trim();
  // The client puts the path of a socket before a colon.
  if (/^unix:\/[^:\0]+$/.test(trimmed)) return { text: trimmed, host: undefined };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([\w.-]+)):(\d{1,5})$/.exec(trimmed) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  if (bracketed !== undefined && isIP(bracketed) !== 6) return undefined;
  return { text: trimmed, host };
}

/** An IPv6 address in brackets. */
export function addressOf(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The URL of a path at an address, as got takes it. */
export function urlAt({ text, host }: Address, path: string, scheme: 'http' | 'https'): string {
  return host === undefined
    ? `http://unix:${text.slice('unix:'.length)}:${path}`
    : `${scheme}://${text}${path}`;
}
