import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import compose from 'koa-compose';
import type { Socket } from 'node:net';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { apiError } from '../base/errors/table.js';
import { Attached } from '../base/memory/account.js';
import type { ServerOptions } from '../base/options.gen.js';
import { RequestRecord } from '../kernel/telemetry/request-log.js';
import type { EncodedAnswer } from '../wire/answer/types.js';
import { type Admission, callerOf, type ServingParts, track } from './admission.js';
import { clientErrorOf, encodeError } from './error-body.js';
import type { FastLane } from './fast-lane.js';
import { lastAnswer } from './last-answer.js';
import { hasAmbiguousEnd, refuseBadHead } from './listener.js';
import { securityHeaders } from './security-headers.js';
import { type ServedRoute, serveRoute } from './serve-route.js';
import { Readable } from 'node:stream';

export interface AppSettings extends ServingParts {
  readonly routes: readonly ServedRoute[];
  readonly admit: Admission;
  /** Remembers requests that can be answered from their bytes alone. */
  readonly fastLane: FastLane | undefined;
}

/** The requests in progress. */
type AllRunning = Attached<{ readonly record: RequestRecord; readonly signal: AbortSignal }>;

/** Creates the Koa app of one listener: its routes, and 404 for everything else. */
export function createApp(settings: AppSettings): Koa {
  const app = new Koa();
  app.silent = true;
  app.on('error', (error: unknown, context?: Context) => {
    // Koa also reports failed connections, whose requests are recorded when the connection closes.
    const socket: Socket | null | undefined = context?.req.socket;
    if (socket?.errored !== error) settings.log.error('HTTP handling failed', { error });
  });
  const running: AllRunning = new Attached();
  app.use(
    compose([
      answerErrors(settings, running),
      (context, next) => {
        settings.connections.refuseOver(context);
        refuseBadHead(context.req);
        return next();
      },
      (context, next) => {
        const cleaned = cleanPath(context.path);
        if (cleaned === undefined) return next();
        redirect(context, cleaned + context.search);
        return undefined;
      },
      createRouter(settings, running).routes(),
      () => {
        throw apiError('notFound', {});
      },
    ]),
  );
  return app;
}

/** Registers a request as in progress. Converts any error of later middleware to an answer with Loki's text, if one can still be sent. */
function answerErrors(settings: AppSettings, running: AllRunning): Middleware {
  return async (context, next) => {
    const { req, res, method, path } = context;
    const record = new RequestRecord(method, path, callerOf(req), settings.clock.monotonicMs());
    const { signal } = track(req, res, record, settings);
    running.set(req, { record, signal });
    context.set(securityHeaders);
    try {
      await next();
    } catch (error) {
      record.error = error;
      if (context.headerSent || !context.writable) {
        // A second body after a partial one would be read as part of the first.
        context.res.destroy();
        context.respond = false;
        return;
      }
      const shown = clientErrorOf(error, signal);
      // The rest of a rejected body is still arriving, so this connection cannot carry another request.
      if (shown.status === 413) context.set('Connection', 'close');
      const { options, hide } = settings;
      await send(context, encodeError(shown, options.errorResponseMessageField, hide), record, settings);
    }
  };
}

function createRouter(settings: AppSettings, running: AllRunning): Router {
  const router = new Router({ strict: true, sensitive: true });
  for (const served of settings.routes) {
    router.all(served.route.paths.map(toRouterPath), async (context) => {
      const known = running.get(context.req);
      if (known === undefined) throw new Error('a request was routed before it was counted');
      const { record, signal } = known;
      settings.admit(served.route, record.caller);
      const pathParams = new Map(Object.entries(context.params));
      const { encoded, path } = await serveRoute(context, served, pathParams, record, signal, settings);
      await send(context, encoded, record, settings);
      if (path !== undefined) settings.fastLane?.learn(context.req, context.res, record, path);
    });
  }
  return router;
}

function redirect(context: Context, location: string): void {
  context.set('Location', location);
  context.body = null;
  context.status = 301;
}

/** Converts `/label/{name}/values` to the router's syntax. */
function toRouterPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

async function send(
  context: Context,
  answer: EncodedAnswer,
  record: RequestRecord,
  settings: AppSettings,
): Promise<void> {
  context.status = answer.status;
  for (const [name, value] of answer.headers) context.set(name, value);
  if (settings.connections.shouldClose(context, answer.status) || hasAmbiguousEnd(context.req))
    context.set('Connection', 'close');
  const body = await compressBody(context, answer, settings.options);
  record.responseBytes = body.length;
  // Set before the body: otherwise Koa would guess a type and add a charset.
  if (answer.contentType !== '') context.set('Content-Type', answer.contentType);
  const isChunked = settings.options.streamResponse && isLogAnswer(answer.body);
  const isLast = context.response.get('Connection') === 'close' && !context.req.complete;
  if (!isLast) context.body = isChunked ? chunkedBody(body) : body;
  else {
    context.body = lastAnswer(chunksOf(body), context.req);
    // Koa knows the length only of bodies that are not streams.
    if (!isChunked) context.length = body.length;
  }
}

/** The path without empty, `.` and `..` segments, to which Loki redirects; undefined for a path that has none. */
function cleanPath(path: string): string | undefined {
  const cleaned = posix.normalize(path);
  if (cleaned === path || !cleaned.startsWith('/')) return undefined;
  // Browsers treat a backslash as a slash, and two of them at the start as another host.
  return cleaned.replaceAll('\\', '%5C');
}

const inThreadPool = promisify(gzip);

/**
 * The body to send, gzipped if the client accepts it and it is large enough. Runs once, at the HTTP edge; a body that a stage has already
 * encoded is unchanged, and one with a cached gzip form is not compressed again.
 */
async function compressBody(
  context: Context,
  { body, gzip: kept }: Pick<EncodedAnswer, 'body' | 'gzip'>,
  settings: ServerOptions,
): Promise<Buffer> {
  const { responseCompression, responseGzip } = settings;
  if (responseCompression === 'none' || (responseCompression === 'gzip' && !responseGzip)) return body;
  context.vary('Accept-Encoding');
  const isEncoded = context.res.hasHeader('Content-Encoding');
  if (isEncoded || body.length === 0 || body.length < settings.responseCompressionMinBytes) return body;
  if (context.acceptsEncodings('gzip', 'identity') !== 'gzip') return body;
  context.set('Content-Encoding', 'gzip');
  return kept === undefined ? compress(body) : kept.of(body, compress);
}

function compress(body: Buffer): Promise<Buffer> {
  // The lowest level already shrinks log text to about a tenth; higher levels only cost time.
  return inThreadPool(body, { level: constants.Z_BEST_SPEED });
}

const chunkBytes = 64 * 1024;
/** The first bytes of a log answer (core/wire/answer/encode.ts). */
const streamsHead = Buffer.from('{"status":"success","data":{"resultType":"streams"');

/** True if an uncompressed body is the answer to a log query. */
function isLogAnswer(body: Buffer): boolean {
  return body.subarray(0, streamsHead.length).equals(streamsHead);
}

/** A body as a stream, so that at most one chunk is buffered for a slow reader. */
function chunkedBody(body: Buffer): Readable {
  return Readable.from(chunksOf(body), { objectMode: false, highWaterMark: chunkBytes });
}

function* chunksOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
}
