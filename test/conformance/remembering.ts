import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Pool } from 'undici';
import type { Store } from './target.js';

interface Remembered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const maxBytes = 192 << 20;
/** Headers that distinguish requests for the same data. */
const tellingHeaders = ['accountid', 'projectid', 'accept-encoding', 'content-type'];
/** Hop-by-hop headers. */
const hopHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'transfer-encoding',
]);

/**
 * A caching proxy in front of a store that does not change: repeated requests get the same bytes. Replays that differ only inside the
 * proxy need no new searches. Closing it closes both.
 */
export async function remembering(store: Store): Promise<Store> {
  const pool = new Pool(store.url);
  const answers = new Map<string, Promise<Remembered>>();
  let bytes = 0;

  async function ask(request: IncomingMessage, body: Buffer): Promise<Remembered> {
    const answer = await pool.request({
      method: request.method === 'POST' ? 'POST' : 'GET',
      path: request.url ?? '/',
      headers: endToEnd(request.headers),
      body: body.length === 0 ? null : body,
    });
    return {
      status: answer.statusCode,
      headers: endToEnd(answer.headers),
      body: Buffer.from(await answer.body.arrayBuffer()),
    };
  }

  async function answerTo(request: IncomingMessage): Promise<Remembered> {
    const body = await buffer(request);
    const told = tellingHeaders.map((name) => String(request.headers[name]));
    const key = [request.method, request.url, ...told, body.toString('latin1')].join('\n');
    const known = answers.get(key);
    if (known !== undefined) return known;
    const asked = ask(request, body);
    answers.set(key, asked);
    const answer = await asked;
    bytes += answer.body.length;
    if (bytes > maxBytes) answers.delete(key);
    return answer;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers, body } = await answerTo(request);
    response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await pool.close();
      await store.close();
    },
  };
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.has(name)));
}
