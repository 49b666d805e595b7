/** A local OTLP receiver for metrics and traces. */
import type { IncomingMessage } from 'node:http';
import * as zlib from 'node:zlib';
import { decodeRequest, decodeTraces } from './decode.js';
import { whileListening } from './listening.js';

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
/** Returns the response to push number `at`, counted from 0; with undefined the receiver never responds. */
export type Answering = (at: number) => Answered | undefined;

export interface Receiver {
  readonly url: string;
  readonly pushed: readonly Pushed[];
  /** Resolves with the first push that matches, whether it has already arrived or not. */
  readonly has: (isIt: (pushed: Pushed, at: number) => boolean) => Promise<Pushed>;
}

export async function withReceiver(
  answering: Answering,
  use: (receiver: Receiver) => Promise<void>,
  isTls = false,
): Promise<void> {
  const pushed: Pushed[] = [];
  const looking = new Set<() => void>();
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
  await whileListening(
    ({ url = '', headers }, bytes, response) => {
      const plain = decoded(bytes, headers['content-encoding']);
      const answer = answering(pushed.length);
      const document =
        url === '/v1/traces' ? { resourceMetrics: [] } : (decodeRequest(plain) as Pushed['document']);
      pushed.push({ path: url, headers, bytes, document });
      for (const look of looking) look();
      if (answer !== undefined) response.writeHead(answer.status, answer.headers).end(answer.body ?? '{}');
    },
    (url) => use({ url, pushed, has }),
    isTls,
  );
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

/** The metrics of a push, from all scopes. */
export function metricsOf({ document }: Pushed): readonly Metric[] {
  return document.resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) => metrics),
  );
}
