import type { IncomingMessage, RequestListener, Server, ServerOptions as NodeServerOptions } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { AddressInfo, ListenOptions } from 'node:net';
import { createSecureContext, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { apiError } from '../base/errors/table.js';
import { describeSystemError } from '../base/errors/system-error.js';
import { readOptionFile } from '../kernel/options/secret-file.js';
import type { ServerOptions } from '../base/options.gen.js';
import { parseListenAddress } from '../base/listen-address.js';
import { createGuardedServer, type OnThrow, type TlsMaterial } from './guarded-server.js';
import { timerMs } from '../base/time/waits.js';

export interface Listener {
  readonly server: Server;
  /** URL for clients on this machine, such as `http://127.0.0.1:3100`. */
  readonly url: string;
  /** Stops accepting; resolves when every connection has closed. */
  close(): Promise<void>;
}

/** The URLs of the listeners; `admin` and `metrics` only if they are separate. */
export interface Urls {
  readonly main: string;
  readonly admin?: string;
  readonly metrics?: string;
}

/** Reads the TLS files; an Error names the flag of a missing or unreadable file. */
export async function readTls(options: ServerOptions): Promise<TlsMaterial | undefined> {
  const { tlsCertFile, tlsKeyFile, tlsClientCaFile, tlsRequireClientCert } = options;
  if (tlsRequireClientCert && tlsClientCaFile === undefined) {
    throw new Error('tls-client-ca-file is required when tls-require-client-cert is enabled');
  }
  if (tlsCertFile === undefined && tlsKeyFile === undefined) return undefined;
  if (tlsCertFile === undefined) throw new Error('-tls-key-file is set without -tls-cert-file');
  if (tlsKeyFile === undefined) throw new Error('-tls-cert-file is set without -tls-key-file');
  const cert = await readOptionFile('-tls-cert-file', tlsCertFile);
  const key = await readOptionFile('-tls-key-file', tlsKeyFile);
  const ca =
    tlsClientCaFile === undefined ? {} : { ca: await readOptionFile('-tls-client-ca-file', tlsClientCaFile) };
  checkTls({ '-tls-cert-file': { cert }, '-tls-key-file': { key }, '-tls-client-ca-file': ca });
  checkTls({ '-tls-cert-file and -tls-key-file': { cert, key } });
  return {
    cert,
    key,
    ...ca,
    requestCert: tlsClientCaFile !== undefined,
    rejectUnauthorized: tlsRequireClientCert,
  };
}

/**
 * True if the client sent a certificate that is expired or not signed by an authority of `-tls-client-ca-file`. Node can only reject such
 * clients together with those that send none.
 */
export function showsForeignCertificate(socket: TLSSocket): boolean {
  if (socket.authorized) return false;
  // Without a client certificate, this is an empty object.
  return Object.keys(socket.getPeerCertificate()).length > 0;
}

/** Tries the files one by one, so that an Error can name the flag. */
function checkTls(parts: Readonly<Record<string, SecureContextOptions>>): void {
  for (const [flags, part] of Object.entries(parts)) {
    try {
      createSecureContext(part);
    } catch (error) {
      throw new Error(`${flags}: cannot use these files: ${describeSystemError(error)}`, { cause: error });
    }
  }
}

/** Creates a server that is not listening yet. */
export function createListenerServer(
  handler: RequestListener,
  options: ServerOptions,
  tls: TlsMaterial | undefined,
  onThrow: OnThrow,
): Server {
  const nodeOptions: NodeServerOptions = {
    maxHeaderSize: options.httpMaxHeaderBytes,
    ...timeoutsOf(options),
    connectionsCheckingInterval: 1_000,
  };
  const server = createGuardedServer(handler, nodeOptions, tls, onThrow);
  server.maxHeadersCount = maxHeaders;
  return server;
}

/** Applies changed options to an open server: its timeouts, and its certificates, which may have been renewed. */
export function useOptions(server: Server, options: ServerOptions, tls: TlsMaterial | undefined): void {
  Object.assign(server, timeoutsOf(options));
  if (tls !== undefined && server instanceof TlsServer) server.setSecureContext(tls);
}

/** Maximum number of headers, more than clients and the proxies in front send. */
const maxHeaders = 1_000;

/**
 * Throws for requests that Node accepts but should not: those of another HTTP version, with dropped headers (the last one, added by a
 * proxy, may be the tenant), or with two hosts, of which other software may use the other one (RFC 9112, 2.3 and 3.2).
 */
export function refuseBadHead({ httpVersion, rawHeaders }: IncomingMessage): void {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw apiError('badHttpVersion', {});
  if (rawHeaders.length >= 2 * maxHeaders) throw apiError('tooManyHeaders', { limit: maxHeaders });
  const hosts = rawHeaders.filter(
    (name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host',
  );
  if (hosts.length > 1) throw apiError('severalHosts', {});
}

/** True if the end of a request's body is ambiguous (RFC 9112, 6.1). */
export function hasAmbiguousEnd({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.0' && headers['transfer-encoding'] !== undefined;
}

/** The header timeout is capped because Node rejects one above the timeout of the whole request. */
function timeoutsOf({ httpReadHeaderTimeout, httpReadTimeout, httpIdleTimeout }: ServerOptions) {
  const isCapped = httpReadTimeout > 0 && httpReadHeaderTimeout > httpReadTimeout;
  return {
    requestTimeout: timerMs(httpReadTimeout),
    headersTimeout: timerMs(isCapped ? httpReadTimeout : httpReadHeaderTimeout),
    keepAliveTimeout: timerMs(httpIdleTimeout),
  } satisfies NodeServerOptions;
}

/** The address and mode of a listener. */
export interface Listening {
  readonly flag: string;
  readonly address: string;
  readonly isTls: boolean;
  /** True if the other workers listen there too. Otherwise a worker would even share an arbitrary free port with them. */
  readonly isShared: boolean;
}

/** Starts listening; an Error names the flag and the reason. */
export async function listen(
  server: Server,
  { flag, address, isTls, isShared }: Listening,
): Promise<Listener> {
  const parsed = parseListenAddress(address);
  if (parsed === undefined)
    throw new Error(`${flag}: ${address} is not an address such as :3100 or 127.0.0.1:3100`);
  const { port, host } = parsed;
  const where = { port, exclusive: !isShared, ...(host === undefined ? {} : { host }) };
  try {
    await opened(server, where);
  } catch (error) {
    throw new Error(describeListenError(flag, address, error), { cause: error });
  }
  return { server, url: urlOf(server, parsed.host, isTls), close: () => closeServer(server) };
}

/** Starts listening on a socket of this process only, replacing one left by an earlier process. */
export async function listenOnSocket(server: Server, path: string): Promise<Listener> {
  await rm(path, { force: true });
  // By default, workers share their listeners.
  await opened(server, { path, exclusive: true });
  return { server, url: `unix:${path}`, close: () => closeServer(server) };
}

async function opened(server: Server, where: ListenOptions): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(where);
  await listening;
}

function urlOf(server: Server, host: string | undefined, isTls: boolean): string {
  // A server that listens on TCP has an AddressInfo; the other forms are for pipes and closed servers.
  const { port } = server.address() as AddressInfo;
  const name = host === undefined || host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `${isTls ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

/** Closes a listener with all its connections. */
export async function cutOff(listener: Listener): Promise<void> {
  const closed = listener.close();
  listener.server.closeAllConnections();
  await closed;
}

/** True if the error means that listening failed. */
export function isListenError(error: unknown): boolean {
  return (
    error instanceof Error &&
    'syscall' in error &&
    (error.syscall === 'listen' || error.syscall === 'getaddrinfo')
  );
}

/** Explains why listening failed, with advice if the address is in use. */
export function describeListenError(flag: string, address: string, error: unknown): string {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  const advice = isTaken ? `; stop the process that listens there, or set ${flag} to another address` : '';
  return `${flag}: cannot listen on ${address}: ${describeSystemError(error)}${advice}`;
}
