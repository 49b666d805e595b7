import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { TailClient } from '../plugins/tail/fixtures.js';
import type { Headers, Site } from './site.js';

/** Opens a tail and waits until it is accepted. */
export async function openTail(
  site: Site,
  params: Readonly<Record<string, string>>,
  headers: Headers = {},
): Promise<TailClient> {
  const client = new TailClient(site.url, params, { ...site.headers, ...headers });
  return client.opened();
}

/** The status and text with which a tail is rejected before it starts. */
export async function refusedTail(
  site: Site,
  params: Readonly<Record<string, string>>,
  headers: Headers = {},
): Promise<string> {
  const url = `${site.url.replace('http', 'ws')}/loki/api/v1/tail?${new URLSearchParams(params).toString()}`;
  const socket = new WebSocket(url, { headers: { ...site.headers, ...headers } });
  socket.on('error', () => undefined);
  const opened = once(socket, 'open').then(() => undefined);
  const refused = once(socket, 'unexpected-response') as Promise<[ClientRequest, IncomingMessage]>;
  const answer = await Promise.race([opened, refused]);
  if (answer === undefined) {
    socket.terminate();
    return 'accepted';
  }
  const [, response] = answer;
  const parts: Buffer[] = [];
  for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
  return `${response.statusCode ?? 0} ${Buffer.concat(parts).toString('utf8')}`;
}
