/** A listen address; without a host it means every interface. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/** Reads `:3100`, `127.0.0.1:0`, `localhost:3100` or `[::1]:3100`; undefined for anything else. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]\s]*)):([0-9]{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  if (port > 65_535) return undefined;
  const host = match[1] ?? match[2] ?? '';
  return { host: host === '' ? undefined : host, port };
}

/** Tells whether the address can only be reached from this machine. */
export function isLoopback(address: ListenAddress): boolean {
  const { host } = address;
  return host === 'localhost' || host === '::1' || (host?.startsWith('127.') ?? false);
}
