import { once } from 'node:events';
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A reverse proxy in front of a demo that forwards HTTP requests, and refuses or cuts WebSockets on demand. */
export interface LiveGate {
  /** The UI behind the gate. */
  readonly url: string;
  /** The WebSocket requests so far, with their headers. */
  readonly upgrades: readonly IncomingMessage['headers'][];
  /** True to refuse new WebSockets. */
  refuses: boolean;
  /** Sends a short text to the open WebSockets, as if it came from the demo. */
  readonly send: (text: string) => void;
  /** Cuts the open WebSockets. */
  readonly cut: () => void;
  /** Stops forwarding over the open WebSockets, which stay open. */
  readonly mute: () => void;
  readonly close: () => Promise<void>;
}

export async function startLiveGate(pageUrl: string): Promise<LiveGate> {
  const { hostname, port, pathname } = new URL(pageUrl);
  const upgrades: IncomingMessage['headers'][] = [];
  const open = new Set<Duplex>();
  const muted = new WeakSet<Duplex>();
  const pass = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { method, url, headers } = incoming;
    const onward = ask({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    incoming.pipe(onward);
  };
  const server = createServer(pass);
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    upgrades.push(incoming.headers);
    socket.on('error', () => undefined);
    if (gate.refuses) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    const onward = connect(Number(port), hostname);
    onward.on('error', () => socket.destroy());
    onward.on('close', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      onward.destroy();
    });
    open.add(socket);
    const lines = incoming.rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    onward.write(`GET ${incoming.url ?? ''} HTTP/1.1\r\n${lines.join('')}\r\n`);
    onward.write(head);
    onward.on('data', (data: Buffer) => {
      if (!muted.has(socket)) socket.write(data);
    });
    socket.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const gate: LiveGate = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    upgrades,
    refuses: false,
    send: (text) => {
      const body = Buffer.from(text);
      // A complete, unmasked text frame; its length fits in seven bits.
      for (const socket of open) socket.write(Buffer.concat([Buffer.from([0x81, body.length]), body]));
    },
    cut,
    mute: () => {
      for (const socket of open) muted.add(socket);
    },
    close: async () => {
      cut();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return gate;
}
