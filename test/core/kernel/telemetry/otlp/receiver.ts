/** A receiver of OTLP, metrics and traces, that listens here. */
import { createServer as createPlain, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTls } from 'node:https';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { packageRoot } from '../../../../../core/kernel/options/index.js';
import { decodeRequest, decodeTraces } from './decode.js';

export interface Point {
  readonly attributes: readonly {
    readonly key: string;
    readonly value: Readonly<Record<string, string | number>>;
  }[];
  readonly asDouble?: number;
  readonly count?: string;
  readonly sum?: number;
  readonly bucketCounts?: readonly string[];
  readonly explicitBounds?: readonly number[];
  readonly startTimeUnixNano?: string;
  readonly timeUnixNano: string;
}
export interface Metric {
  readonly name: string;
  readonly sum?: {
    readonly aggregationTemporality: number;
    readonly isMonotonic: boolean;
    readonly dataPoints: readonly Point[];
  };
  readonly gauge?: { readonly dataPoints: readonly Point[] };
  readonly histogram?: { readonly aggregationTemporality: number; readonly dataPoints: readonly Point[] };
}
export interface Pushed {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  readonly document: {
    readonly resourceMetrics: readonly {
      readonly resource: { readonly attributes: Point['attributes'] };
      readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[];
    }[];
  };
}
export interface Answered {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}
/** What answers the push of this number, from 0; undefined never answers. */
export type Answering = (at: number) => Answered | undefined;

export interface Receiver {
  readonly url: string;
  readonly pushed: readonly Pushed[];
  /** Resolves with the push that is so, come or to come. */
  readonly has: (isIt: (pushed: Pushed, at: number) => boolean) => Promise<Pushed>;
}

export async function withReceiver(
  answering: Answering,
  use: (receiver: Receiver) => Promise<void>,
  isTls = false,
): Promise<void> {
  const pushed: Pushed[] = [];
  const looking = new Set<() => void>();
  const receive: RequestListener = (incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const bytes = Buffer.concat(parts);
      const plain = decoded(bytes, incoming.headers['content-encoding']);
      const answer = answering(pushed.length);
      pushed.push({
        path: incoming.url ?? '',
        headers: incoming.headers,
        bytes,
        document:
          incoming.url === '/v1/traces'
            ? { resourceMetrics: [] }
            : (decodeRequest(plain) as Pushed['document']),
      });
      for (const look of looking) look();
      if (answer !== undefined) response.writeHead(answer.status, answer.headers).end(answer.body ?? '{}');
    });
  };
  const pem = (name: string): Buffer => readFileSync(join(packageRoot(), 'test', 'data', 'tls', name));
  const server = isTls
    ? createTls({ key: pem('server.key'), cert: pem('server.pem') }, receive)
    : createPlain(receive);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const has: Receiver['has'] = (isIt) =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = pushed.find(isIt);
        if (found === undefined) return;
        looking.delete(look);
        resolve(found);
      };
      looking.add(look);
      look();
    });
  try {
    await use({ url: `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`, pushed, has });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

export function decoded(bytes: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return zlib.gunzipSync(bytes);
  if (encoding !== 'zstd') return bytes;
  const { zstdDecompressSync } = zlib as unknown as { zstdDecompressSync: (bytes: Buffer) => Buffer };
  return zstdDecompressSync(bytes);
}

export interface Span {
  readonly traceId: string;
  readonly name: string;
}
export function spansIn({ bytes }: Pushed): readonly Span[] {
  const { resourceSpans } = decodeTraces(bytes) as {
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
    }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}
