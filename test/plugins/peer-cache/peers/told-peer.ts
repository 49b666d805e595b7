import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { HotEntry } from '../../../../plugins/peer-cache/peers/hot-index.js';
import { framed } from '../../../../core/cache/frame.js';
import { token } from './fleet.js';

/** A member of a fleet that says what a test wants it to. */
export interface ToldPeer {
  readonly address: string;
  /** Queries of requests for the index of keys, and keys that were asked for, in order. */
  readonly hotQueries: readonly string[];
  readonly got: readonly string[];
  /** The most that were asked for at once. */
  readonly mostAtOnce: () => number;
}

export interface ToldPeerSettings {
  /** Told to the first one that asks; later ones are told nothing. */
  readonly entries: readonly HotEntry[];
  /** Bytes of a value, if not those of its entry. */
  readonly bytesOf?: (entry: HotEntry) => number;
  /** Keys are answered when so many are asked for at once. */
  readonly atOnce?: number;
  /** Answers the index itself. */
  readonly hot?: (response: ServerResponse) => void;
  readonly token?: string;
}

export async function toldPeer(t: ExecutionContext, settings: ToldPeerSettings): Promise<ToldPeer> {
  const { entries, atOnce = 1 } = settings;
  const bytesOf = settings.bytesOf ?? ((entry: HotEntry): number => entry.size_bytes);
  const [hotQueries, got]: [string[], string[]] = [[], []];
  let [running, most] = [0, 0];
  const waiting: (() => void)[] = [];
  const get = async (key: string, response: ServerResponse): Promise<void> => {
    got.push(key);
    running += 1;
    most = Math.max(most, running);
    if (running < atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else for (const go of waiting.splice(0)) go();
    running -= 1;
    const entry = entries.find((one) => one.key === key);
    const packed = Buffer.alloc(entry === undefined ? 1 : bytesOf(entry), 'x');
    const leftMs = entry?.remaining_ttl_ms ?? 0;
    response.end(await framed(key, { packed, leftMs, ageMs: 0 }, settings.token ?? token));
  };
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', 'http://peer');
    if (url.pathname === '/_cache/get') return void get(url.searchParams.get('key') ?? '', response);
    if (url.pathname !== '/_cache/hot') return void response.writeHead(404).end();
    hotQueries.push(url.search);
    if (settings.hot !== undefined) {
      settings.hot(response);
      return;
    }
    response.end(JSON.stringify({ owner: 'told', entries: hotQueries.length === 1 ? entries : [] }));
  };
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, hotQueries, got, mostAtOnce: () => most };
}
