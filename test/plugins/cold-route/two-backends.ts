import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { FakeClock, withProxyFile, type ProxyUnderTest } from '../../../core/testing/index.js';

/** 2026-11-08T00:00:00Z: with a boundary of 168 hours, everything before the start of November is cold. */
export const nowNs = 1_794_096_000_000_000_000n;
export const boundaryNs = 1_793_491_200_000_000_000n;
export const minuteNs = 60_000_000_000n;

/** A line of the stream `{app="shop"}` at the given minute after the boundary. */
export interface Line {
  readonly minute: number;
  readonly text: string;
  readonly app?: string;
}

/** The behaviour of the cold backend. */
export interface ColdBehaviour {
  /** Response body of `GET /manifest/range`; without it, the backend answers 404. */
  manifest?: string;
  /** Decides if a query is rejected with 400. */
  refuses?: (query: string) => boolean;
  /** Never responds. */
  hangs?: boolean;
  /** Closes every connection. */
  isDown?: boolean;
}

export interface ColdUnder extends ProxyUnderTest {
  readonly clock: FakeClock;
  readonly manners: ColdBehaviour;
  /** Queries that the cold backend received. */
  readonly coldQueries: string[];
  readonly manifestReads: () => number;
  /** Requests JSON over minutes around the boundary. */
  readonly ask: (
    path: string,
    params: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Got>;
  /** Queries lines, newest first; by default those of the shop. */
  readonly lines: (fromMinute: number, toMinute: number, query?: string) => Promise<readonly string[]>;
  readonly metric: (name: string) => Promise<number>;
}

export interface Got {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** Runs a proxy over two embedded backends; a server in front of the cold one applies its `manners`. */
export async function withTwoBackends(
  t: ExecutionContext,
  lines: { readonly hot: readonly Line[]; readonly cold: readonly Line[] },
  manners: ColdBehaviour,
  use: (under: ColdUnder) => Promise<void>,
  flags: Readonly<Record<string, string>> = {},
): Promise<void> {
  t.timeout(300_000);
  const clock = new FakeClock(nowNs);
  const hot = await startDevBackend({ nowNs: () => clock.nowNs() });
  const cold = await startDevBackend({ nowNs: () => clock.nowNs() });
  const coldQueries: string[] = [];
  let reads = 0;
  const front = createServer((incoming, outgoing) => {
    if (incoming.url === '/manifest/range') reads += 1;
    void behave(incoming, outgoing, manners, cold.url, coldQueries).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  try {
    await push(hot.url, lines.hot);
    await push(cold.url, lines.cold);
    // A server on TCP has an address object.
    const { port } = front.address() as AddressInfo;
    const allFlags = {
      backend: hot.url,
      'cold-enabled': 'true',
      'cold-backend': `http://127.0.0.1:${port}`,
      'rate-limit-per-second': '0',
      // The warm-up would also query labels of seven days from the cold backend.
      'labels-cache-warm': 'false',
      'server.register-instrumentation': 'true',
      ...flags,
    };
    await withProxyFile(
      'pipelines/reference-compatible.yaml',
      async (under) => {
        const ask: ColdUnder['ask'] = async (path, params, headers = {}) => {
          const query = new URLSearchParams(params).toString();
          const answer = await fetch(`${under.url}/loki/api/v1/${path}?${query}`, { headers });
          const text = await answer.text();
          return { status: answer.status, text, body: asObject(text) };
        };
        await use({
          ...under,
          ...{ clock, manners, coldQueries, ask },
          manifestReads: () => reads,
          lines: async (from, to, query = '{app="shop"}') =>
            linesOf(await ask('query_range', { query, ...minutes(from, to) })),
          metric: async (name) => {
            const text = await (await fetch(`${under.url}/metrics`)).text();
            const all = text.split('\n').filter((line) => line.startsWith(`ref_proxy_${name}`));
            return all.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
          },
        });
      },
      { clock, flags: allFlags },
    );
  } finally {
    front.closeAllConnections();
    front.close();
    await hot.close();
    await cold.close();
  }
}

/** A range in minutes after the boundary. */
export function minutes(from: number, to: number): { readonly start: string; readonly end: string } {
  const at = (minute: number): string => String(boundaryNs + BigInt(minute) * minuteNs);
  return { start: at(from), end: at(to) };
}

export function linesOf({ body }: Got): readonly string[] {
  const data = body['data'] as {
    readonly result: readonly { readonly values: readonly [string, string][] }[];
  };
  const values = data.result.flatMap((stream) => stream.values);
  return values.sort(([a], [b]) => (a < b ? 1 : -1)).map(([, line]) => line);
}

function asObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function push(url: string, lines: readonly Line[]): Promise<void> {
  if (lines.length === 0) return;
  const streams = lines.map(({ minute, text, app = 'shop' }) => ({
    stream: { app },
    values: [[String(boundaryNs + BigInt(minute) * minuteNs), text]],
  }));
  const answer = await fetch(`${url}/insert/loki/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

async function behave(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  manners: ColdBehaviour,
  url: string,
  asked: string[],
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
  const body = Buffer.concat(parts);
  if (manners.isDown === true) {
    outgoing.destroy();
    return;
  }
  if (manners.hangs === true) return;
  if (incoming.url === '/manifest/range') {
    outgoing.writeHead(manners.manifest === undefined ? 404 : 200, { 'content-type': 'application/json' });
    outgoing.end(manners.manifest ?? '{}');
    return;
  }
  const query = new URLSearchParams(body.toString()).get('query') ?? '';
  asked.push(query);
  if (manners.refuses?.(query) === true) {
    outgoing.writeHead(400).end(`cannot parse the query ${query}`);
    return;
  }
  const { method = 'GET', headers } = incoming;
  const sent = forward(url + (incoming.url ?? '/'), { method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  sent.on('error', () => outgoing.destroy());
  sent.end(body);
}
