import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import type { EmbeddedBackend } from '../backend.js';
import { Args } from './args.js';
import { readRaw } from './body.js';
import { answerText, type Context, type Handler } from './context.js';
import { badRequest, ClientGoneError, HttpError, QueryTimeoutError } from './errors.js';
import { pause } from '../../../core/base/time/waits.js';
import { ResponseWriter } from './response.js';
import type { TenantId } from '../store/stream-tags.js';

const FORM = 'application/x-www-form-urlencoded';

/** The HTTP server of a backend, with a way to abort its requests. */
export interface BackendServer {
  readonly server: Server;
  /** Aborts every open request, live tails included. */
  readonly abortAll: () => void;
}

/** Makes the HTTP server of a backend; `handlerFor` finds the endpoint of a path. */
export function createBackendServer(
  backend: EmbeddedBackend,
  handlerFor: (path: string) => Handler | undefined,
): BackendServer {
  const open = new Set<AbortController>();
  const server = createServer((req, res) => {
    const gone = new AbortController();
    open.add(gone);
    res.once('close', () => {
      open.delete(gone);
      if (!res.writableFinished) gone.abort(new ClientGoneError());
    });
    res.on('error', () => gone.abort(new ClientGoneError()));
    void serve(backend, handlerFor, gone.signal, req, res);
  });
  // Clients reuse connections for up to a minute; Node's default of 5 s would reset them between panels.
  server.keepAliveTimeout = 60_000;
  server.requestTimeout = 0;
  const abortAll = (): void => {
    for (const controller of open) controller.abort(new ClientGoneError());
  };
  return { server, abortAll };
}

/** Answers one request. Never rejects: errors are sent to the client. */
async function serve(
  backend: EmbeddedBackend,
  handlerFor: (path: string) => Handler | undefined,
  signal: AbortSignal,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const [rawPath = '/', search = ''] = splitOnce(req.url ?? '/', '?');
  const path = decodePath(rawPath.replace(/\/{2,}/g, '/'));
  backend.counters.countCall(path);
  let out = new ResponseWriter(res, { acceptsGzip: false, headers: {}, onBytes: countBytes(backend) });
  try {
    const args = new Args(await readForm(req, path), new URLSearchParams(search));
    const tenant = readTenant(req);
    const fault = path.startsWith('/-/') ? undefined : backend.faults.take(path, args.get('query'));
    out = new ResponseWriter(res, {
      acceptsGzip: /\bgzip\b/.test(header(req, 'accept-encoding')),
      headers: { AccountID: String(tenant.accountId), ProjectID: String(tenant.projectId) },
      onBytes: countBytes(backend),
      ...(fault?.trickleMs === undefined ? {} : { pieceDelayMs: fault.trickleMs }),
    });
    const ctx: Context = {
      backend,
      req,
      res,
      path,
      args,
      tenant,
      out,
      signal,
      nowNs: backend.settings.nowNs(),
      fault,
    };
    if (fault !== undefined && (await playFault(ctx))) return;
    const handler = handlerFor(path);
    if (handler === undefined) throw badRequest(`unsupported path requested: ${JSON.stringify(path)}`);
    await handler(ctx);
  } catch (error) {
    await answerError(backend, out, res, path, error);
  }
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function countBytes(backend: EmbeddedBackend): (bytes: number) => void {
  return (bytes) => {
    backend.counters.bytesSent += bytes;
  };
}

function header(req: IncomingMessage, name: string): string {
  const value = req.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

/** Form parameters of a POST. On the insert paths this consumes a body sent with the form type, as the real server does. */
async function readForm(req: IncomingMessage, path: string): Promise<URLSearchParams> {
  const isForm = header(req, 'content-type').toLowerCase().startsWith(FORM);
  if (req.method === 'GET' || !isForm) return new URLSearchParams();
  const raw = await readRaw(req);
  return path.startsWith('/insert/') ? new URLSearchParams() : new URLSearchParams(raw.toString('utf8'));
}

function readTenant(req: IncomingMessage): TenantId {
  return { accountId: uint32(header(req, 'accountid')), projectId: uint32(header(req, 'projectid')) };
}

function uint32(text: string): number {
  if (text === '') return 0;
  const quoted = JSON.stringify(text);
  if (!/^\d+$/.test(text)) {
    throw badRequest(
      `cannot obtain tenantID: cannot parse ${quoted} as uint32: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
    );
  }
  const value = Number(text);
  if (value > 0xffffffff) {
    throw badRequest(
      `cannot obtain tenantID: cannot parse ${quoted} as uint32: strconv.ParseUint: parsing ${quoted}: value out of range`,
    );
  }
  return value;
}

/** Applies the parts of a fault that precede the answer; true if there is nothing left to answer. */
async function playFault(ctx: Context): Promise<boolean> {
  const { fault, signal } = ctx;
  if (fault?.latencyMs !== undefined) await pause(fault.latencyMs, signal);
  if (fault?.hang === true) {
    await pause(Infinity, signal);
    return true;
  }
  if (fault?.status === undefined) return signal.aborted;
  await answerText(ctx, fault.status, fault.text ?? '');
  return true;
}

async function answerError(
  backend: EmbeddedBackend,
  out: ResponseWriter,
  res: ServerResponse,
  path: string,
  error: unknown,
): Promise<void> {
  if (error instanceof ClientGoneError || res.destroyed) return;
  backend.counters.errors++;
  const status = error instanceof HttpError ? error.status : 500;
  const message = error instanceof Error ? error.message : String(error);
  try {
    if (out.started) {
      out.write(`\n${message.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}\n`);
      await out.abort();
      return;
    }
    out.discard();
    if (error instanceof QueryTimeoutError && path !== '/select/logsql/query') {
      // Every JSON endpoint still sends 200; only the broken framing shows the failure (docs/protocol/victorialogs.md#failures).
      out.begin(200, 'application/json');
      await out.abort();
      return;
    }
    out.begin(status, 'text/plain; charset=utf-8');
    out.write(`${message}\n`);
    await out.end();
  } catch {
    // The client left while the error was being sent.
    res.destroy();
  }
}
