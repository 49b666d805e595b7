import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';

/** A server in front of a demo that sends only a part of the lines of a response until `finish` is called. */
export interface SlowAnswers {
  readonly url: string;
  /** Sends the rest of the open responses. */
  readonly finish: () => void;
  /** Resolves when a client has disconnected before the end of its response. */
  readonly left: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startSlowAnswers(pageUrl: string): Promise<SlowAnswers> {
  const { origin, pathname } = new URL(pageUrl);
  const held = new Set<() => void>();
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => (leave = resolve));
  const hold = async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const [first, rest] = madeAnswer();
    response.on('close', () => {
      if (!response.writableFinished) leave();
    });
    response.write(first);
    // More chunks later, so that reading takes longer than a moment.
    const timer = setInterval(() => response.write(' '), 20);
    await new Promise<void>((resolve) => {
      held.add(resolve);
      response.on('close', resolve);
    });
    clearInterval(timer);
    response.end(rest);
  };
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '/', origin);
    const isLines =
      url.pathname.endsWith('/query_range') && !url.searchParams.get('query')?.startsWith('sum');
    void (isLines ? hold(response) : pass(url, incoming, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${pathname}`,
    finish: () => {
      for (const go of held) go();
      held.clear();
    },
    left: () => left,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function pass(url: URL, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { 'x-page-run': run } = incoming.headers;
  const { statusCode, headers, body } = await request(url, {
    headers: run === undefined ? {} : { 'X-Page-Run': String(run) },
  });
  response.writeHead(statusCode, headers as Record<string, string>);
  response.end(Buffer.from(await body.arrayBuffer()));
}

/** A response with a thousand lines, in two parts. */
function madeAnswer(): readonly [string, string] {
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const values = Array.from({ length: 1_000 }, (_, index) => [
    String(nowNs - BigInt(index) * 1_000_000n),
    `line ${index}`,
    {},
  ]);
  const text = JSON.stringify({
    status: 'success',
    data: { resultType: 'streams', result: [{ stream: { app: 'made' }, values }] },
  });
  const middle = text.indexOf('],[', text.length / 2) + 2;
  return [text.slice(0, middle), text.slice(middle)];
}
