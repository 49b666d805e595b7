import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { untilAborted } from '../base/time/waits.js';
import { apiError } from '../base/errors/table.js';
import { addTo } from '../base/order.js';
import { atPace, doAll, Pacer, type Steps } from '../base/pace/steps.js';
import type { HttpCall, RouteHandler } from '../kernel/plugin/contract.js';
import { createExchange, type Exchange, type RepeatPath } from '../kernel/plugin/exchange.js';
import type { RequestRecord } from '../kernel/telemetry/request-log.js';
import { encodeSteps } from '../wire/answer/encode.js';
import type { Answer, EncodedAnswer } from '../wire/answer/types.js';
import type { Params } from '../wire/api/params/index.js';
import type { ApiRequest } from '../wire/api/request.js';
import { type Route, routeLabel } from '../wire/routes-table.js';
import type { ServingParts } from './admission.js';

/**
 * Merges the parameters of a POST form and of the URL: form values first, repeated values in order, as Loki's server does. Bodies of other
 * types count toward the limit but have no parameters.
 */
async function readMergedParams(
  request: IncomingMessage,
  queryString: string,
  maxBodyBytes: number,
): Promise<Params> {
  const merged = new Map<string, string[]>();
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers['content-type'] ?? '');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const body = await readBody(request, maxBodyBytes);
    // A body may be large, so it is parsed with pauses for other work.
    if (isForm) await atPace(addAll(merged, body), new Pacer());
  }
  addUrl(merged, queryString);
  return merged;
}

export function readUrlParams(queryString: string): Params {
  const merged = new Map<string, string[]>();
  addUrl(merged, queryString);
  return merged;
}

/** Maximum number of parameters, far above any client's; otherwise a body of only `&a` would become millions of objects. */
const maxParams = 10_000;

type Merged = Map<string, string[]>;

/** Adds the URL's parameters, without pauses: a URL is bounded like headers. */
function addUrl(merged: Merged, queryString: string): void {
  if (queryString !== '') doAll(addAll(merged, Buffer.from(queryString)));
}

function addAll(merged: Merged, form: Buffer): Steps<void> {
  if (countParams(form) > maxParams) throw apiError('tooManyParameters', { limit: maxParams });
  return decodeForm(form, (name, value) => addTo(merged, name, value));
}

/** Number of parameters; counting stops above the limit. */
function countParams(form: Buffer): number {
  let count = 1;
  for (let at = form.indexOf('&'); at !== -1 && count <= maxParams; at = form.indexOf('&', at + 1))
    count += 1;
  return count;
}

/** Reads a request body up to a limit; a longer one is rejected early. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw apiError('bodyTooLarge', { limit: maxBytes });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of wholeBody(request)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw apiError('bodyTooLarge', { limit: maxBytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The chunks of a body; an incomplete body is the client's error. */
async function* wholeBody(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    // An incoming message yields Buffers if no encoding was set. The rest of a rejected body is discarded after the answer: destroying the
    // message would close the connection without one.
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch {
    throw apiError('brokenBody', {});
  }
}

/** Number of bytes decoded per step; a body may be large, and so may one of its parameters. */
const stepBytes = 256 * 1024;
const [ampersand, equals, percent, plus, space] = [0x26, 0x3d, 0x25, 0x2b, 0x20];

/**
 * Decodes `a=b&c=d` like URLSearchParams, which takes quadratic time for many plus signs. Yields between steps, so that the caller can
 * pause for other work.
 */
export function* decodeForm(form: Buffer, add: (name: string, value: string) => void): Steps<void> {
  let sinceYield = 0;
  for (let at = 0; at < form.length;) {
    const found = form.indexOf(ampersand, at);
    const pair = form.subarray(at, found === -1 ? form.length : found);
    at += pair.length + 1;
    if (pair.length === 0) continue;
    const sign = pair.indexOf(equals);
    const name = yield* decodeText(sign === -1 ? pair : pair.subarray(0, sign));
    const value = sign === -1 ? '' : yield* decodeText(pair.subarray(sign + 1));
    add(name, value);
    sinceYield += pair.length;
    if (sinceYield < stepBytes) continue;
    sinceYield = 0;
    yield;
  }
}

function* decodeText(encoded: Buffer): Steps<string> {
  if (!encoded.includes(percent) && !encoded.includes(plus)) return yield* textOf(encoded);
  // Decoding never makes a text longer.
  const decoded = Buffer.allocUnsafe(encoded.length);
  let length = 0;
  let nextYield = stepBytes;
  for (let at = 0; at < encoded.length; at += 1) {
    const byte = encoded[at] ?? 0;
    const escaped = byte === percent ? hexByte(encoded[at + 1], encoded[at + 2]) : -1;
    if (escaped >= 0) at += 2;
    decoded[length] = escaped >= 0 ? escaped : byte === plus ? space : byte;
    length += 1;
    if (at < nextYield) continue;
    nextYield = at + stepBytes;
    yield;
  }
  return yield* textOf(decoded.subarray(0, length));
}

/** Decodes UTF-8 in parts. Each part ends before a byte that starts a character, so the result is the same as for the whole. */
function* textOf(bytes: Buffer): Steps<string> {
  if (bytes.length <= stepBytes) return bytes.toString('utf8');
  const parts: string[] = [];
  for (let at = 0; at < bytes.length;) {
    let end = Math.min(at + stepBytes, bytes.length);
    // After three continuation bytes, further ones belong to no character.
    for (let back = 0; back < 3 && isContinuationByte(bytes[end]); back += 1) end -= 1;
    parts.push(bytes.toString('utf8', at, end));
    at = end;
    yield;
  }
  return parts.join('');
}

function isContinuationByte(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The byte for two hexadecimal digits; negative if they are invalid. */
function hexByte(high = 0, low = 0): number {
  const [highValue, lowValue] = [digitValue(high), digitValue(low)];
  return highValue < 0 || lowValue < 0 ? -1 : highValue * 16 + lowValue;
}

function digitValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

export interface ServedRoute {
  readonly route: Route;
  readonly handler: RouteHandler;
}

/** The response of a route. */
interface Served {
  readonly encoded: EncodedAnswer;
  /** The path through the stages, if the same bytes always have the same meaning. */
  readonly path: RepeatPath | undefined;
}

/** Answers one request of a route: reads its parameters, calls the handler, encodes the answer once. Throws on failure. */
export async function serveRoute(
  context: Context,
  { route, handler }: ServedRoute,
  pathParams: ReadonlyMap<string, string>,
  record: RequestRecord,
  signal: AbortSignal,
  settings: ServingParts,
): Promise<Served> {
  record.route = routeLabel(route);
  record.requestType = route.id;
  if (!takesMethod(route, context.method)) {
    context.set('Allow', route.methods.join(', '));
    throw apiError('methodNotAllowed', {});
  }
  const memory = settings.memory.open();
  memory.retain();
  if (context.res.closed) memory.close();
  else context.res.once('close', () => memory.close());
  const answerIt = async (): Promise<Served> => {
    const params =
      route.ignoresBody === true
        ? readUrlParams(context.querystring)
        : await readMergedParams(context.req, context.querystring, settings.options.httpMaxBodyBytes);
    record.query = params.get('query')?.[0];
    let asked: ApiRequest | undefined;
    let passed: { readonly path: RepeatPath; readonly answer: Answer } | undefined;
    const time = { isRead: false };
    const exchangeOf = (request: ApiRequest, isFinal: boolean): Exchange => {
      asked = request;
      const { id, caller, trace } = record;
      return createExchange({ id, request, caller, signal, trace, memory, isFinal });
    };
    const call: HttpCall = {
      route: route.id,
      method: context.method,
      path: context.path,
      pathParams,
      params,
      caller: record.caller,
      signal,
      ask: (request, { isFinal = true } = {}) => settings.run(exchangeOf(request, isFinal)),
      pass: async (request) => {
        const exchange = exchangeOf(request, true);
        const answer = await settings.run(exchange);
        passed = { path: exchange.repeat, answer };
        return answer;
      },
      readBody: (maxBytes) => readBody(context.req, maxBytes),
      nowNs: () => {
        time.isRead = true;
        return settings.clock.nowNs();
      },
    };
    const answer = await handler(call);
    const encoded = await toBytes(answer, record, asked, signal);
    memory.keepOnly(encoded.body.length, 'the bytes of the answer');
    return { encoded, path: !time.isRead && passed?.answer === answer ? passed.path : undefined };
  };
  return untilAborted(
    answerIt().finally(() => memory.close()),
    signal,
  );
}

function takesMethod(route: Route, method: string): boolean {
  const asked = method === 'HEAD' ? 'GET' : method;
  return route.methods.some((known) => known === asked);
}

async function toBytes(
  answer: Answer,
  record: RequestRecord,
  request: ApiRequest | undefined,
  signal: AbortSignal,
): Promise<EncodedAnswer> {
  const { categorizeLabels } = record.caller;
  if (request?.op === 'query_range' || request?.op === 'query') {
    record.tupleMode = categorizeLabels ? 'categorize_labels_3tuple' : 'default_2tuple';
  }
  if (answer.kind === 'encoded') {
    if (answer.refusal !== undefined) record.error = answer.refusal;
    return answer;
  }
  const steps = encodeSteps(
    answer,
    request === undefined ? { categorizeLabels } : { categorizeLabels, request },
  );
  return atPace(steps, new Pacer(signal));
}
