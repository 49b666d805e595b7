/**
 * Answers requests whose bytes have been seen before without running the pipeline again. The meaning of a request (its route, its
 * parameters, its caller) only depends on its bytes and on configuration; the stages have declared their effect on it (core/kernel/repeat).
 * A stage without a declaration, or an evicted answer, sends the request through the pipeline.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { asError } from '../base/guard-events.js';
import { ByteLru } from '../base/memory/byte-lru.js';
import type { Repeat, RepeatPath } from '../kernel/plugin/exchange.js';
import { RequestRecord } from '../kernel/telemetry/request-log.js';
import type { EncodedAnswer } from '../wire/answer/types.js';
import { connectionError } from './error-body.js';
import { type ServingParts, track } from './admission.js';

/** A remembered request, and how it was answered. */
interface Known {
  readonly record: RequestRecord;
  readonly repeat: Repeat;
  readonly isGzip: boolean;
  readonly bodyLength: number;
  /** Response header names and values, alternating, as sent. */
  readonly head: string[];
}

/** An answer that is about to be sent. */
interface Due {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: RequestRecord;
  readonly head: string[];
  readonly body: Buffer;
}

const maxEntries = 4_096;
const maxBytes = 8 * 2 ** 20;
/** Maximum length of a key. Longer requests are rare, and comparing them costs about as much as it saves. */
const maxKeyLength = 16 * 2 ** 10;
/** Copies of a request's texts: in its key, its record and its caller. */
const copies = 3;

export class FastLane {
  readonly #parts: ServingParts;
  readonly #known: ByteLru<Known>;
  readonly #answered: { add(value: number): void };
  #due: Due[] = [];
  #isClosed = false;

  constructor(parts: ServingParts) {
    this.#parts = parts;
    const { clock, meters } = parts;
    const resized = (entries: number, bytes: number): void => {
      // By now another lane sets the gauges.
      if (this.#isClosed) return;
      meters.fast_lane_entries.set(entries, {});
      meters.fast_lane_bytes.set(bytes, {});
    };
    const observer = { resized, dropped: () => undefined };
    this.#answered = meters.fast_lane_requests_total.of({});
    this.#known = new ByteLru({ maxEntries, maxBytes, clock, observer });
  }

  /** Answers the request if the same bytes have been answered before; false leaves it unchanged. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    const key = keyOf(request);
    const known = key === undefined ? undefined : this.#known.get(key);
    const { clock, connections } = this.#parts;
    const standing = known === undefined ? undefined : connections.repeatable(request, response);
    if (known === undefined || standing === undefined) return false;
    const startedMs = clock.monotonicMs();
    const body = known.repeat((answer) => bodyOf(answer, known));
    if (body === undefined) return false;
    this.#answered.add(1);
    if (standing !== 'open') connections.rotated(standing);
    const head = standing === 'open' ? known.head : [...known.head, 'Connection', 'close'];
    const record = recordOf(known.record, startedMs);
    if (this.#due.push({ request, response, record, head, body }) === 1) setImmediate(() => this.#sendDue());
    return true;
  }

  /**
   * Sends the answers to all requests that were read in one turn of the event loop. Waking up a sleeping client costs more than everything
   * else about a repeated request, so a client is woken once for many answers.
   */
  #sendDue(): void {
    const due = this.#due;
    this.#due = [];
    for (const each of due) {
      try {
        this.#send(each);
      } catch (error) {
        this.#parts.onThrow(asError(error), each.request.socket);
      }
    }
  }

  #send({ request, response, record, head, body }: Due): void {
    const { clock, observer, connections } = this.#parts;
    const { socket } = request;
    if (socket.destroyed) {
      const ended = connectionError(socket);
      record.error = ended;
      observer.started(record);
      observer.finished(record, ended.status, clock.monotonicMs() - record.startedMs);
      return;
    }
    response.writeHead(200, head);
    response.end(body);
    if (socket.writableLength > 0) {
      connections.admit(request, response);
      track(request, response, record, this.#parts);
      return;
    }
    connections.answeredAtOnce(request);
    observer.started(record);
    observer.finished(record, 200, clock.monotonicMs() - record.startedMs);
  }

  /** Forgets everything for good, because remembered requests hold references to the stages that answered. */
  close(): void {
    this.#sendDue();
    this.#known.clear();
    this.#isClosed = true;
  }

  /** Remembers a request whose response is about to be sent: its headers are set, and its body is the answer's. */
  learn(request: IncomingMessage, response: ServerResponse, record: RequestRecord, path: RepeatPath): void {
    const key = keyOf(request);
    if (this.#isClosed || key === undefined || key.length > maxKeyLength) return;
    if (response.statusCode !== 200 || response.hasHeader('Connection')) return;
    const bodyLength = Number(response.getHeader('Content-Length'));
    const repeat = bodyLength >= 0 ? path.known() : undefined;
    if (repeat === undefined) return;
    const head = rawNames(response).flatMap((name) =>
      [response.getHeader(name) ?? []].flat().flatMap((value) => [name, String(value)]),
    );
    const isGzip = response.getHeader('Content-Encoding') === 'gzip';
    const known = { record, repeat, isGzip, bodyLength, head };
    const bytes = copies * key.length + head.join('').length;
    this.#known.set(key, known, bytes, Infinity);
  }
}

/** The names of all headers in their original case; Node's types only declare this method for requests. */
function rawNames(response: ServerResponse & { getRawHeaderNames?(): string[] }): string[] {
  return response.getRawHeaderNames?.() ?? response.getHeaderNames();
}

/** All parts of a request that can affect its answer; undefined for a request with a body or with side effects. */
function keyOf({ method, url, rawHeaders, socket }: IncomingMessage): string | undefined {
  if (method !== 'GET') return undefined;
  let key = `${socket.remoteAddress ?? ''}\n${url ?? ''}`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (bodyHeaderLengths.has(name.length) && bodyHeaders.has(name.toLowerCase())) return undefined;
    // Neither name nor value can contain a line break.
    key += `\n${name}:${rawHeaders[at + 1] ?? ''}`;
  }
  return key;
}

/** Headers of requests with a body, or with more than one answer. */
const bodyHeaders = new Set(['content-length', 'transfer-encoding', 'expect', 'upgrade']);
const bodyHeaderLengths = new Set([...bodyHeaders].map((name) => name.length));

function bodyOf(
  { body, gzip }: EncodedAnswer,
  { isGzip, bodyLength }: Pick<Known, 'isGzip' | 'bodyLength'>,
): Buffer | undefined {
  const sent = isGzip ? gzip?.kept : body;
  return sent?.length === bodyLength ? sent : undefined;
}

/** The record of another request with the same bytes. */
function recordOf(known: RequestRecord, startedMs: number): RequestRecord {
  const record = new RequestRecord(known.method, known.path, known.caller, startedMs);
  record.route = known.route;
  record.requestType = known.requestType;
  record.query = known.query;
  record.tupleMode = known.tupleMode;
  record.responseBytes = known.responseBytes;
  record.trace.tenantId = known.trace.tenantId;
  record.trace.cache('hit');
  return record;
}
