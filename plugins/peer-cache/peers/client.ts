import { tokenTest } from '../../../core/http/admission.js';
import { apiError, type Caller } from '../../../core/plugin/index.js';
import { isIP } from 'node:net';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Got } from 'got';
import { timerMs } from '../../../core/base/time/waits.js';

export interface PeerRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly timeoutMs: number;
  /** Maximum size of the answer in bytes. */
  readonly largest: number;
  /** Called when the headers of the answer arrive. */
  readonly began?: () => void;
}

export interface PeerReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The reason why a call to a peer failed, as reported by `peer_cache_failures_total`. */
export class PeerFailure extends Error {
  readonly reason: string;

  constructor(reason: string, text: string, cause?: unknown) {
    super(text, cause === undefined ? undefined : { cause });
    this.name = 'PeerFailure';
    this.reason = reason;
  }
}

/** The certificate that peers present to each other over HTTPS. */
export interface PeerTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** The CA that must have signed the certificates of others; Node's trusted CAs unless given. */
  readonly ca?: Buffer;
}

/** Bounds on the connections to one peer. */
const pooled = { keepAlive: true, maxSockets: 64, maxFreeSockets: 16 };

/** Sends calls to peers. Each call is bounded in time and size; none is sent after `close`. */
export class PeerClient {
  readonly #agent = new Agent(pooled);
  #tlsAgent: TlsAgent | undefined;
  readonly #stopped = new AbortController();
  /** Loaded only for a proxy with peers or workers, because it is large. */
  readonly #client: Promise<Got>;

  constructor(headers: Readonly<Record<string, string>>) {
    this.#client = this.#load(headers);
    // The error reaches the first caller instead.
    this.#client.catch(() => undefined);
  }

  async #load(headers: Readonly<Record<string, string>>): Promise<Got> {
    const { got } = await import('got');
    return got.extend({
      headers: { ...headers, 'user-agent': undefined, 'accept-encoding': undefined },
      decompress: false,
      throwHttpErrors: false,
      followRedirect: false,
      enableUnixSockets: true,
      // The peer may have closed a pooled connection meanwhile, so it is retried once.
      retry: {
        limit: 1,
        methods: ['GET', 'POST'],
        statusCodes: [],
        errorCodes: ['ECONNRESET', 'EPIPE'],
        backoffLimit: 10,
      },
    });
  }

  /** Uses HTTPS for peers from now on, except on local sockets. */
  secure(tls: PeerTls): void {
    this.#tlsAgent = new TlsAgent({ ...pooled, ...tls });
  }

  get isClosed(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** @throws PeerFailure */
  async send(
    address: Address,
    { method, path, headers, body, timeoutMs, largest, began }: PeerRequest,
  ): Promise<PeerReply> {
    const tooLong = new AbortController();
    try {
      const https = this.#tlsAgent;
      const client = await this.#client;
      const call = client(urlAt(address, path, https === undefined ? 'http' : 'https'), {
        agent: https === undefined ? { http: this.#agent } : { http: this.#agent, https },
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        timeout: { request: timerMs(timeoutMs) },
        signal: AbortSignal.any([this.#stopped.signal, tooLong.signal]),
        responseType: 'buffer',
      });
      void call.on('downloadProgress', ({ transferred, total }) => {
        began?.();
        if (transferred > largest || (total ?? 0) > largest) tooLong.abort();
      });
      const { statusCode: status, headers: answered, rawBody } = await call;
      if (rawBody.byteLength > largest) throw new Error('the answer is too long');
      return { status, headers: answered, body: rawBody };
    } catch (error) {
      throw failureOf(error, tooLong.signal.aborted, largest, timeoutMs);
    }
  }

  /** Aborts all calls. */
  close(): void {
    this.#stopped.abort();
    this.#agent.destroy();
    this.#tlsAgent?.destroy();
  }
}

function failureOf(error: unknown, isTooLong: boolean, largest: number, timeoutMs: number): PeerFailure {
  if (isTooLong) return new PeerFailure('body_read', `its answer is larger than ${largest} bytes`, error);
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError') return new PeerFailure('timeout', `no answer within ${timeoutMs} ms`, error);
  if (name === 'ReadError') return new PeerFailure('body_read', 'its answer ended early', error);
  if (error instanceof TypeError) return new PeerFailure('request_build', 'the request is invalid', error);
  return new PeerFailure('transport', error instanceof Error ? error.message : 'unknown error', error);
}

/** The address a member listens on: `host:port`, or `unix:/path` for a socket. */
export interface Address {
  readonly text: string;
  /** Host of a TCP address, without brackets. */
  readonly host: string | undefined;
}

/** Parses the address of a member; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const trimmed = text.trim();
  // The client expects the path of a socket before a colon.
  if (/^unix:\/[^:\0]+$/.test(trimmed)) return { text: trimmed, host: undefined };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([\w.-]+)):(\d{1,5})$/.exec(trimmed) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  if (bracketed !== undefined && isIP(bracketed) !== 6) return undefined;
  return { text: trimmed, host };
}

/** The text of an address; IPv6 hosts are put in brackets. */
export function addressOf(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The URL of a path at an address, as got expects it. */
export function urlAt({ text, host }: Address, path: string, scheme: 'http' | 'https'): string {
  return host === undefined
    ? `http://unix:${text.slice('unix:'.length)}:${path}`
    : `${scheme}://${text}${path}`;
}

export const tokenHeader = 'x-peer-token';

/**
 * Makes a check that throws unless the caller is another replica: one with the token or, without a token, one at the address of a member.
 * @param token undefined for none
 */
export function peerGate(
  token: string | undefined,
  isMember: (ip: string) => boolean,
): (caller: Caller) => void {
  const isToken = token === undefined ? undefined : tokenTest(token);
  return ({ headers, address }) => {
    const isKnown = isToken === undefined ? isMember(address) : isToken(headers.get(tokenHeader) ?? '');
    if (!isKnown) throw apiError('peerAuthRequired', {});
  };
}
