import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import type { Owner, HeldPermit, Permit } from '../../base/admission/fair-queue.js';
import type { ApiError } from '../../base/errors/api-error.js';
import { streamUnpackers } from '../../base/encoding.js';
import { Secrets } from '../../base/secrets.js';
import { authorizationOf } from '../../base/url-credentials.js';
import { apiError } from '../../base/errors/table.js';
import type { BreakerPermit } from '../../base/admission/circuit-breaker.js';
import { BackendConnections, Deadline, secretHeaders } from './connections.js';
import {
  addressAdvice,
  BrokenBody,
  failureOf,
  isReset,
  isTransportFailure,
  refusalOf,
  unexpectedAnswer,
  wordingOf,
  type StatusRule,
  type Wording,
} from './failures.js';

/** The address and the transport settings of a backend. Plain data. */
export interface BackendOptions {
  readonly url: string;
  /** In milliseconds. */
  readonly timeout: number;
  /**
   * `auto` requests uncompressed answers from a backend on this machine, and gzip from others; `zstd` requests zstd if Node supports it,
   * else gzip.
   */
  readonly compression: 'auto' | 'gzip' | 'zstd' | 'none';
  readonly tlsSkipVerify: boolean;
  readonly maxConcurrent: number;
  readonly maxBufferedResponseBytes: number;
  readonly maxRowBytes: number;
  /** True if error texts of the backend are shown unchanged. */
  readonly showsRawErrors?: boolean;
  /** True if error texts contain no addresses, hosts and files of the backend; true by default. */
  readonly hidesAddresses?: boolean;
}

export interface BackendCall {
  /** Path below the backend's URL, such as `/select/logsql/query`. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly form: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The owner of the call, for fair queueing. */
  readonly owner?: Owner;
  readonly statusRule: StatusRule;
  /** True if the answer must be JSON, as a whole or by line, like all of VictoriaLogs' own answers. */
  readonly isJson: boolean;
  /** True if an answer that is marked as partial counts as an answer. */
  readonly mayBePartial?: boolean;
  /**
   * A probe from outside any request. It bypasses the circuit breaker, takes no permit and has its own connection, so that a proxy that is
   * overloaded or cut off can still probe.
   */
  readonly isProbe?: boolean;
  /**
   * For an endless answer: only the time until it starts is limited, to this many milliseconds. It takes no permit at the gate, has its own
   * connection, and is not compressed, because gzip would hold back its head until the first row.
   */
  readonly liveWithinMs?: number;
}

/** A backend answer with a valid head; it must be read to its end or destroyed. */
export interface BackendAnswer {
  readonly status: number;
  /** Maximum length of a row in bytes. */
  readonly maxRowBytes: number;
  /** The error for an answer that does not fit the call. */
  unexpected(problem: string, cause?: unknown): ApiError;
  /** Reads the body as it arrives; ending the loop early closes the connection. */
  chunks(): AsyncGenerator<Buffer>;
  /** Reads the whole body, up to -backend-max-buffered-response-bytes. */
  text(): Promise<string>;
}

const maxErrorBytes = 4096;
/** Maximum number of concurrent probes, which are few and short. */
const maxProbes = 4;
const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|::1)$/;

/** HTTP to VictoriaLogs: pooled connections, one timeout per call, abort. Admission is decided elsewhere. Errors are ApiError. */
export class BackendHttp {
  readonly #options: BackendOptions;
  readonly #connections: BackendConnections;
  /** Connections for endless answers, which would block other calls. */
  readonly #liveConnections: BackendConnections;
  readonly #probeConnections: BackendConnections;
  /** The name of the backend in error texts. */
  readonly #address: string;
  readonly #acceptEncoding: string;
  readonly #wording: Wording;
  /** Wording of error texts for the log only. */
  readonly #innerWording: Wording;
  /** Credentials from the URL. */
  readonly #urlHeaders: Readonly<Record<string, string>>;

  constructor(options: BackendOptions) {
    const url = new URL(options.url);
    this.#options = options;
    const hidesAddresses = options.hidesAddresses !== false;
    this.#address = hidesAddresses ? '' : ` ${url.origin}`;
    const authorization = authorizationOf(url);
    this.#urlHeaders = authorization === undefined ? {} : { authorization };
    const isPlain =
      options.compression === 'none' || (options.compression === 'auto' && loopback.test(url.hostname));
    const compressed = options.compression === 'zstd' && unpackers.has('zstd') ? 'zstd, gzip' : 'gzip';
    this.#acceptEncoding = isPlain ? 'identity' : compressed;
    const isRaw = options.showsRawErrors === true;
    this.#wording = wordingOf({ isRaw, hidesAddresses, host: url.hostname });
    this.#innerWording = wordingOf({ isRaw, hidesAddresses: false, host: url.hostname });
    const open = (max: number, maxKept: number): BackendConnections =>
      new BackendConnections(options.url, { tlsSkipVerify: options.tlsSkipVerify, max, maxKept });
    // The gate limits calls. An answer that is not being read has a connection but no permit.
    this.#connections = open(Infinity, options.maxConcurrent === 0 ? Infinity : options.maxConcurrent);
    this.#liveConnections = open(Infinity, Infinity);
    this.#probeConnections = open(maxProbes, maxProbes);
  }

  /**
   * Sends a call and waits for the head of its answer. The permit of the breaker receives the outcome; `permit` is released once the answer has
   * been read.
   * @throws ApiError with the statuses of docs/protocol/errors-and-limits.md#error-body
   */
  async exchange(
    call: BackendCall,
    breakerPermit: BreakerPermit,
    permit: HeldPermit,
  ): Promise<BackendAnswer> {
    const deadline = new Deadline(call.signal, call.liveWithinMs ?? this.#options.timeout);
    const end = (): void => {
      deadline.end();
      permit.leave();
    };
    const wording = call.isProbe === true ? this.#innerWording : this.#wording;
    const hide = (text: string): string => {
      const secrets = new Secrets();
      secrets.addAll([...secretHeaders(this.#urlHeaders), ...secretHeaders(call.headers)]);
      return secrets.hide(text);
    };
    try {
      const response = await this.#requestOrAgain(call, deadline.signal);
      breakerPermit.succeed();
      const status = response.statusCode ?? 0;
      const answer = new OpenAnswer(decoded(response), {
        status,
        client: call.signal,
        deadline,
        maxBytes: this.#options.maxBufferedResponseBytes,
        maxRowBytes: this.#options.maxRowBytes,
        unexpected: (problem, cause) =>
          unexpectedAnswer(
            `the backend${this.#address} to ${call.path}`,
            hide(problem),
            without(cause, hide),
            wording,
          ),
        failure: (error) => failureOf(error, wording),
        permit,
        end,
      });
      if (status < 200 || status > 299)
        throw refusalOf(status, hide(await answer.start(maxErrorBytes)), call.statusRule, wording);
      const problem = problemOf(response, call);
      if (problem !== undefined) {
        answer.drop();
        throw answer.unexpected(problem);
      }
      if (call.liveWithinMs !== undefined) deadline.lift();
      return answer;
    } catch (error) {
      end();
      if (!call.signal.aborted && !deadline.hasPassed && isTransportFailure(error)) breakerPermit.fail();
      else breakerPermit.release();
      throw endOf(error, call.signal, deadline, (failure) => failureOf(failure, wording));
    }
  }

  /** Sends a request, and retries once if no byte has arrived: the backend may have closed a pooled connection in the meantime. */
  async #requestOrAgain(call: BackendCall, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      return await this.#request(call, signal);
    } catch (error) {
      if (signal.aborted || !isReset(error)) throw error;
      return await this.#request(call, signal);
    }
  }

  #request(call: BackendCall, signal: AbortSignal): Promise<IncomingMessage> {
    const form = new URLSearchParams(
      call.form.map(([name, value]): [string, string] => [name, value]),
    ).toString();
    const isPost = call.method === 'POST';
    const query = isPost || form === '' ? '' : `?${form}`;
    const isLive = call.liveWithinMs !== undefined;
    const connections =
      call.isProbe === true ? this.#probeConnections : isLive ? this.#liveConnections : this.#connections;
    return connections.request({
      path: `${call.path}${query}`,
      method: call.method,
      headers: {
        ...call.headers,
        'accept-encoding': isLive ? 'identity' : this.#acceptEncoding,
        ...(isPost ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
      body: isPost ? form : undefined,
      signal,
    });
  }

  /** Closes all connections; calls in flight fail. */
  close(): void {
    for (const each of [this.#connections, this.#liveConnections, this.#probeConnections]) each.close();
  }
}

/**
 * The header that marks an answer with missing rows. VictoriaLogs 1.52 does not send it (docs/protocol/victorialogs.md#clusters), but its
 * next versions plan to. Streamed answers will have `unknown` completeness, and break off if they are incomplete.
 */
const partialHeader = 'vl-partial-response';
const wholeMarks: ReadonlySet<string> = new Set(['', 'false', '0', 'unknown']);
const plainEncodings: ReadonlySet<string> = new Set(['', 'identity']);
const unpackers = streamUnpackers();

/** The first defect in the head of a successful answer. */
function problemOf({ statusCode = 0, headers }: IncomingMessage, call: BackendCall): string | undefined {
  const { 'content-encoding': encoding = '', 'content-type': type, [partialHeader]: partial } = headers;
  // Another 2xx means no answer, a partial answer, or an answer from something else.
  if (statusCode !== 200) return `status ${statusCode} instead of 200; ${addressAdvice}`;
  if (partial !== undefined && call.mayBePartial !== true && !wholeMarks.has(String(partial).toLowerCase()))
    return `it is partial (${partialHeader}: ${String(partial).slice(0, 20)}), because storage nodes could not be reached`;
  if (!plainEncodings.has(encoding) && !unpackers.has(encoding))
    return `content encoding ${JSON.stringify(encoding)}`;
  if (!call.isJson || (type !== undefined && /json/i.test(type))) return undefined;
  const found = type === undefined ? 'no content type' : `content type ${JSON.stringify(type)}`;
  return `${found} instead of JSON; ${addressAdvice}`;
}

/** The cause of an error, with secrets removed from its message. */
function without(cause: unknown, hide: (text: string) => string): unknown {
  if (!(cause instanceof Error)) return cause;
  const message = hide(cause.message);
  return message === cause.message ? cause : new Error(message);
}

function decoded(response: IncomingMessage): Readable {
  const unpack = unpackers.get(response.headers['content-encoding'] ?? '');
  if (unpack === undefined) return response;
  // The reader of the body gets the error.
  return pipeline(response, unpack(), () => undefined);
}

interface Reading {
  readonly status: number;
  readonly client: AbortSignal;
  readonly deadline: Deadline;
  readonly maxBytes: number;
  readonly maxRowBytes: number;
  readonly unexpected: (problem: string, cause?: unknown) => ApiError;
  /** Makes the error for a failure of the connection. */
  readonly failure: (error: unknown) => ApiError;
  /** Released while the answer is not being read. */
  readonly permit: Permit;
  /** Frees the resources of the call. */
  readonly end: () => void;
}

class OpenAnswer implements BackendAnswer {
  readonly status: number;
  readonly maxRowBytes: number;
  readonly #body: Readable;
  readonly #reading: Reading;

  constructor(body: Readable, reading: Reading) {
    this.status = reading.status;
    this.maxRowBytes = reading.maxRowBytes;
    this.#body = body;
    this.#reading = reading;
    // A body destroyed early emits an error; the reader of chunks() already has it.
    body.on('error', () => undefined);
  }

  unexpected(problem: string, cause?: unknown): ApiError {
    return this.#reading.unexpected(problem, cause);
  }

  /** Closes the connection without reading the body. */
  drop(): void {
    this.#body.destroy();
    this.#reading.end();
  }

  async *chunks(): AsyncGenerator<Buffer> {
    const { client, deadline, permit, failure: nameOf } = this.#reading;
    try {
      // HTTP and zlib streams give Buffers as long as no encoding is set.
      for await (const chunk of this.#body as AsyncIterable<Buffer>) {
        const resume = permit.pause();
        try {
          yield chunk;
        } finally {
          resume();
        }
      }
      // Aborting a request discards unread data, which would then look like the end of the answer.
      if (client.aborted || deadline.hasPassed) throw new Error('cancelled');
    } catch (error) {
      // After the head has arrived, an early end means that the backend broke off, unless this side ended the call.
      const isOurs = client.aborted || deadline.hasPassed;
      const failure = isOurs
        ? error
        : new BrokenBody('the connection closed before the end of the response', { cause: error });
      throw endOf(failure, client, deadline, nameOf);
    } finally {
      this.drop();
    }
  }

  async text(): Promise<string> {
    const { maxBytes } = this.#reading;
    const bytes = await this.#first(maxBytes + 1);
    if (bytes.length > maxBytes) throw apiError('bufferLimit', { limit: maxBytes });
    return bytes.toString('utf8');
  }

  /** Reads at most the first bytes of the body. */
  async start(maxBytes: number): Promise<string> {
    return (await this.#first(maxBytes)).toString('utf8');
  }

  async #first(maxBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.chunks()) {
      parts.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) break;
    }
    return Buffer.concat(parts).subarray(0, maxBytes);
  }
}

/** The reason why a call ended: the client's abort first, then the call's timeout, then the connection. */
function endOf(
  error: unknown,
  client: AbortSignal,
  deadline: Deadline,
  nameOf: (failure: unknown) => ApiError,
): Error {
  throwIfEnded(client);
  if (deadline.hasPassed) return apiError('queryTimeout', {}, { cause: error });
  return nameOf(error);
}

export function throwIfEnded(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const reason: unknown = signal.reason;
  throw reason instanceof Error && reason.name === 'ApiError'
    ? reason
    : apiError('clientGone', {}, { cause: reason });
}
