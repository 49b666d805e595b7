import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Pool, type Dispatcher } from 'undici';
import { apiError } from '../errors/table.js';
import type { CircuitBreaker, Permit } from './breaker.js';
import { Deadline } from './deadline.js';
import {
  BrokenBody,
  failureOf,
  isReset,
  isTransportFailure,
  refusalOf,
  type StatusRule,
} from './failures.js';
import { CallGate } from './gate.js';

export interface ClientOptions {
  readonly url: string;
  readonly timeoutMs: number;
  /** `auto` asks a backend on this machine for plain answers and others for gzip. */
  readonly compression: 'auto' | 'gzip' | 'zstd' | 'none';
  readonly tlsSkipVerify: boolean;
  readonly maxConcurrent: number;
  readonly maxBufferedBytes: number;
}

export interface BackendCall {
  /** Path below the backend's URL, such as `/select/logsql/query`. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly form: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly statusRule: StatusRule;
  /** A look from outside of any request: it neither asks the circuit breaker nor has a say in it. */
  readonly isHealthCheck?: boolean;
  /**
   * An answer without an end: only its beginning is bound, by this many milliseconds. It takes no place at the gate, has a
   * connection of its own, and comes plain, because gzip would hold back its head until the first row.
   */
  readonly liveWithinMs?: number;
}

/** An answer of the backend that began with status 2xx; it must be read to its end or destroyed. */
export interface BackendAnswer {
  readonly status: number;
  /** Reads the body as it comes; ending the loop early closes the connection. */
  chunks(): AsyncGenerator<Buffer>;
  /** Reads the whole body, up to -backend-max-buffered-response-bytes. */
  text(): Promise<string>;
}

const noVerdict: Permit = { succeed: () => undefined, fail: () => undefined, release: () => undefined };
const noPlace = (): void => undefined;
const maxErrorBytes = 4096;
const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|::1)$/;

/** HTTP to VictoriaLogs: kept connections, one bound of time per call, breaker, abort. Errors are ApiError. */
export class BackendClient {
  readonly #options: ClientOptions;
  readonly #pool: Pool;
  /** For answers without an end, which would block the pool. */
  readonly #livePool: Pool;
  readonly #basePath: string;
  readonly #breaker: CircuitBreaker;
  readonly #gate: CallGate;
  readonly #acceptEncoding: string;

  constructor(options: ClientOptions, breaker: CircuitBreaker) {
    const url = new URL(options.url);
    this.#options = options;
    this.#breaker = breaker;
    this.#gate = new CallGate(options.maxConcurrent);
    this.#basePath = url.pathname.replace(/\/+$/, '');
    const isPlain =
      options.compression === 'none' || (options.compression === 'auto' && loopback.test(url.hostname));
    this.#acceptEncoding = isPlain ? 'identity' : 'gzip';
    const common = {
      // The call's own timer decides; these only must not be shorter.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { rejectUnauthorized: !options.tlsSkipVerify },
    };
    this.#pool = new Pool(url.origin, { ...common, connections: Math.max(options.maxConcurrent, 1) });
    this.#livePool = new Pool(url.origin, { ...common, connections: null });
  }

  /**
   * Sends a call and waits for the head of its answer.
   * @throws ApiError with the statuses of spec-gaps, Error body
   */
  async call(call: BackendCall): Promise<BackendAnswer> {
    throwIfEnded(call.signal);
    const leave = call.liveWithinMs === undefined ? await this.#enter(call.signal) : noPlace;
    try {
      const permit = call.isHealthCheck === true ? noVerdict : this.#breaker.admit();
      return await this.#send(call, permit, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #enter(signal: AbortSignal): Promise<() => void> {
    try {
      return await this.#gate.enter(signal);
    } catch (error) {
      throwIfEnded(signal);
      throw error;
    }
  }

  async #send(call: BackendCall, permit: Permit, leave: () => void): Promise<BackendAnswer> {
    const deadline = new Deadline(call.signal, call.liveWithinMs ?? this.#options.timeoutMs);
    const end = (): void => {
      deadline.end();
      leave();
    };
    try {
      const response = await this.#requestOrAgain(call, deadline.signal);
      permit.succeed();
      const body = decoded(response);
      const { statusCode } = response;
      const answer = new OpenAnswer(
        statusCode,
        body,
        call.signal,
        deadline,
        this.#options.maxBufferedBytes,
        end,
      );
      if (response.statusCode < 200 || response.statusCode > 299) {
        throw refusalOf(response.statusCode, await answer.start(maxErrorBytes), call.statusRule);
      }
      if (call.liveWithinMs !== undefined) deadline.lift();
      return answer;
    } catch (error) {
      end();
      if (!call.signal.aborted && !deadline.hasPassed && isTransportFailure(error)) permit.fail();
      else permit.release();
      throw endOf(error, call.signal, deadline);
    }
  }

  /** A kept connection may have been closed under the call: one more try, while no byte has come. */
  async #requestOrAgain(call: BackendCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#request(call, signal);
    } catch (error) {
      if (signal.aborted || !isReset(error)) throw error;
      return await this.#request(call, signal);
    }
  }

  #request(call: BackendCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const form = new URLSearchParams(
      call.form.map(([name, value]): [string, string] => [name, value]),
    ).toString();
    const isPost = call.method === 'POST';
    const query = isPost || form === '' ? '' : `?${form}`;
    const isLive = call.liveWithinMs !== undefined;
    return (isLive ? this.#livePool : this.#pool).request({
      path: `${this.#basePath}${call.path}${query}`,
      method: call.method,
      headers: {
        ...call.headers,
        'accept-encoding': isLive ? 'identity' : this.#acceptEncoding,
        ...(isPost ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
      body: isPost ? form : null,
      signal,
    });
  }

  /** Closes all connections; calls in flight end with an error. */
  async close(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#livePool.destroy()]);
  }
}

function decoded(response: Dispatcher.ResponseData): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response.body;
  const plain = createGunzip();
  response.body.once('error', (error) => plain.destroy(error));
  plain.once('close', () => response.body.destroy());
  return response.body.pipe(plain);
}

class OpenAnswer implements BackendAnswer {
  readonly status: number;
  readonly #body: Readable;
  readonly #client: AbortSignal;
  readonly #deadline: Deadline;
  readonly #maxBytes: number;
  readonly #end: () => void;

  constructor(
    status: number,
    body: Readable,
    client: AbortSignal,
    deadline: Deadline,
    maxBytes: number,
    end: () => void,
  ) {
    this.status = status;
    this.#body = body;
    this.#client = client;
    this.#deadline = deadline;
    this.#maxBytes = maxBytes;
    this.#end = end;
    // A body destroyed before its end emits an error; the reader of chunks() has been told by then.
    body.on('error', () => undefined);
  }

  async *chunks(): AsyncGenerator<Buffer> {
    try {
      // undici's and zlib's bodies give Buffers as long as no encoding is set.
      for await (const chunk of this.#body as AsyncIterable<Buffer>) yield chunk;
    } catch (error) {
      // The head has come, so whatever ends the body early is the backend breaking off, unless this side did it.
      const isOurs = this.#client.aborted || this.#deadline.hasPassed;
      throw endOf(
        isOurs ? error : new BrokenBody('the answer was broken off', { cause: error }),
        this.#client,
        this.#deadline,
      );
    } finally {
      this.#body.destroy();
      this.#end();
    }
  }

  async text(): Promise<string> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.chunks()) {
      size += chunk.length;
      if (size > this.#maxBytes) throw apiError('bufferLimit', { limit: this.#maxBytes });
      parts.push(chunk);
    }
    return Buffer.concat(parts).toString('utf8');
  }

  /** Reads no more than the first bytes of the body. */
  async start(maxBytes: number): Promise<string> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.chunks()) {
      parts.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) break;
    }
    return Buffer.concat(parts).subarray(0, maxBytes).toString('utf8');
  }
}

/** Why a call ended: the client's side first, then the call's own time bound, then the connection. */
function endOf(error: unknown, client: AbortSignal, deadline: Deadline): Error {
  throwIfEnded(client);
  if (deadline.hasPassed) return apiError('queryTimeout', {}, { cause: error });
  return failureOf(error);
}

function throwIfEnded(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const reason: unknown = signal.reason;
  throw reason instanceof Error && reason.name === 'ApiError'
    ? reason
    : apiError('clientGone', {}, { cause: reason });
}
