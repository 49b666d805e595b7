import {
  createServer as createPlain,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTls } from 'node:https';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../../../../../core/kernel/options/index.js';

/** Runs a server while `use` runs, and passes each request with its whole body to `take`; TLS uses the test certificate. */
export async function whileListening(
  take: (incoming: IncomingMessage, body: Buffer, response: ServerResponse) => void,
  use: (url: string) => Promise<void>,
  isTls: boolean,
): Promise<void> {
  const receive: RequestListener = (incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => take(incoming, Buffer.concat(parts), response));
  };
  const pem = (name: string): Buffer => readFileSync(join(packageRoot(), 'test', 'data', 'tls', name));
  const server = isTls
    ? createTls({ key: pem('server.key'), cert: pem('server.pem') }, receive)
    : createPlain(receive);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  try {
    await use(`${isTls ? 'https' : 'http'}://127.0.0.1:${port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
