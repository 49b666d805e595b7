import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { HotEntry } from '../../../../plugins/peer-cache/peers/hot-index.js';
import { framed } from '../../../../core/cache/frame.js';
import { token } from './fleet.js';

/** A fake member of a fleet with the responses that a test configures. */
export interface ScriptedPeer {
  readonly address: string;
  /** Queries of requests for the key index, and the requested keys, in order. */
  readonly hotQueries: readonly string[];
  readonly got: readonly string[];
  /** Maximum number of concurrent key requests. */
  readonly mostAtOnce: () => number;
}

export interface ScriptedPeerSettings {
  /** Sent to the first index request; later ones get no entries. */
  readonly entries: readonly HotEntry[];
  /** Size of a value in bytes, if it differs from that of its entry. */
  readonly bytesOf?: (entry: HotEntry) => number;
  /** Key requests wait until this many are in flight. */
  readonly atOnce?: number;
  /** Responds to index requests instead. */
  readonly hot?: (response: ServerResponse) => void;
  readonly token?: string;
}

export async function scriptedPeer(
  t: ExecutionContext,
  settings: ScriptedPeerSettings,
): Promise<ScriptedPeer> {
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
