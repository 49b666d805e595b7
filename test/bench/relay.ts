import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A loopback relay in front of a server; counts the bytes that the server sends and the open connections. */
export interface Relay {
  readonly url: string;
  /** Bytes from the server since the last call. */
  takeBytes(): number;
  /** Number of open connections. */
  connections(): number;
  close(): void;
}

/** Opens a relay to a base URL. */
export async function openRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  let bytes = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    open.add(client);
    client.once('close', () => open.delete(client));
    upstream.on('data', (chunk) => {
      bytes += chunk.length;
    });
    client.pipe(upstream).pipe(client);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an address object.
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    takeBytes: () => {
      const taken = bytes;
      bytes = 0;
      return taken;
    },
    connections: () => open.size,
    close: () => {
      server.close();
      for (const client of open) client.destroy();
    },
  };
}
