/**
 * Helpers for a stage that caches finished answers: tier0, and plugins that replace it (`ref-proxy/plugin`). Everything an answer depends
 * on is decided here, so that no cache can forget a part of it.
 */
import { abortReason } from '../base/admission/fair-queue.js';
import { atPace, Pacer } from '../base/pace/steps.js';
import { readBuiltInSchemas } from '../kernel/options/schema-files.js';
import { createExchange, type Exchange } from '../kernel/plugin/exchange.js';
import type { Host } from '../kernel/plugin/host.js';
import type { TtlRules } from '../operations/descriptor.js';
import { operationOf } from '../operations/index.js';
import { encodeSteps, finishedAnswer } from '../wire/answer/encode.js';
import { weighAnswer } from '../wire/answer/merge/index.js';
import type { Answer, EncodedAnswer } from '../wire/answer/types.js';
import type { ApiRequest } from '../wire/api/request.js';
import { fromStored, toStored } from './frame.js';
import { createCacheKeys, type Forwarding, runningDeletions } from './keys.js';

/**
 * The TTL of an answer in milliseconds; 0 means do not cache. An answer that includes the recent past is only cached for the allowed
 * staleness, however old its window is when it is requested again: lines may have arrived after it was made.
 */
export function ttlMs(request: ApiRequest, answer: Answer, nowMs: number, rules: TtlRules): number {
  const { cache } = operationOf(request);
  if (cache === 'never' || !isComplete(answer)) return 0;
  const base = cache.ttlMs(request, answer, rules);
  return cache.isRecent(request, nowMs, rules) ? Math.min(base, rules.recentTailRefreshMaxStaleness) : base;
}

/** Upper bound of the TTL of any answer to a request, in milliseconds. */
export function mostTtlMs(request: ApiRequest, nowMs: number, rules: TtlRules): number {
  const { cache } = operationOf(request);
  const isRecent = cache !== 'never' && cache.isRecent(request, nowMs, rules);
  return isRecent ? rules.recentTailRefreshMaxStaleness : Infinity;
}

/** Tells whether the answer can be cached. Partial answers carry a warning; encoded ones belong to another stage. */
function isComplete(answer: Answer): boolean {
  return answer.kind !== 'encoded' && (!('warnings' in answer) || answer.warnings.length === 0);
}

/** The options that cache keys and TTLs depend on; durations in milliseconds. Their schema is `cachingOptions()`. */
export interface CachingOptions extends Forwarding, TtlRules {
  /** True if log answers are sent in chunks, so that their bytes never exist as a whole. */
  readonly streamResponse: boolean;
}

const optionNames: Readonly<Record<keyof CachingOptions, true>> = {
  queryTtl: true,
  labelsCacheTtl: true,
  diskCacheMinTtl: true,
  peerWriteThroughMinTtl: true,
  maxMetadataCacheFreshness: true,
  recentTailRefreshEnabled: true,
  recentTailRefreshWindow: true,
  recentTailRefreshMaxStaleness: true,
  forwardAuthorization: true,
  forwardHeaders: true,
  forwardCookies: true,
  streamResponse: true,
};

/**
 * The schema of `CachingOptions`, to be spread into the `properties` of a plugin's schema. The options follow the global flags and the
 * plugins that lead them, so a cache can never be configured to ignore credentials that are forwarded to the backend.
 */
export function cachingOptions(): Readonly<Record<keyof CachingOptions, object>> {
  const properties = readBuiltInSchemas().get('tier0')?.properties ?? {};
  const chosen = Object.keys(optionNames).map((name) => [name, properties[name] ?? {}]);
  return Object.fromEntries(chosen) as Record<keyof CachingOptions, object>;
}

export interface CachingSettings {
  /** Maximum size of a finished answer. Larger answers are not cached. */
  readonly maxBytes: number;
  /**
   * Signs entries in a store outside the process; all readers and writers share it. Without it, anyone who can write to the store can forge
   * answers.
   */
  readonly secret?: string | undefined;
}

export interface AnswerCaching {
  /**
   * A cache key that is equal for requests with equal answers, in all processes. It contains the operation, the tenant and its data source,
   * the credentials sent to the backend, the parameters, and the options that answers depend on. Undefined if the answer must not be cached
   * or served from a cache: a request with a partial answer or with side effects, an operation that is never cached, a tenant with a
   * running deletion.
   */
  cacheKey(exchange: Exchange<'tenant'>): string | undefined;
  /** TTL of the rest of the chain's answer in milliseconds; 0 means do not cache (partial answers, bytes that another stage made). */
  timeToLive(exchange: Exchange<'tenant'>, answer: Answer): number;
  /**
   * The answer as it is sent to the client, with its bytes; undefined when it is larger than `maxBytes` and must be passed on as it is.
   * @throws the reason of the exchange's signal, when the client has left
   */
  finish(exchange: Exchange<'tenant'>, answer: Answer): Promise<EncodedAnswer | undefined>;
  /**
   * Encodes a finished answer for a store outside the process, with a format version, its creation and expiry, and a digest over all of
   * that and the key. Undefined for an answer above `maxBytes`.
   * @param key the cache key, with everything else that must be unchanged on reading, such as a purge counter
   * @param ttl milliseconds
   */
  encode(key: string, answer: EncodedAnswer, ttl: number): Promise<Buffer | undefined>;
  /**
   * The finished answer that was encoded under this key; undefined for any other bytes: damaged, expired, too large, or with another
   * version, key or secret.
   */
  decode(key: string, bytes: Buffer): Promise<EncodedAnswer | undefined>;
}

/**
 * Creates the helpers of a stage that caches finished answers. The stage must declare `keepsAnswers`, spread `cachingOptions()` into its
 * schema, and empty its cache in `purge`.
 * @throws Error naming an option that the schema of the plugin lacks
 */
export function answerCaching(
  options: CachingOptions,
  host: Pick<Host, 'clock' | 'setup' | 'shared'>,
  { maxBytes, secret }: CachingSettings,
): AnswerCaching {
  for (const name of Object.keys(optionNames))
    if (!Object.hasOwn(options, name))
      throw new Error(`option "${name}" is missing: add ...cachingOptions() to the properties of the schema`);
  const keyOf = createCacheKeys(options);
  const deletions = runningDeletions(host);
  const { clock, setup } = host;
  return {
    cacheKey(exchange) {
      if (!isWhole(exchange, options) || deletions.touch(exchange.slots.tenant)) return undefined;
      const key = keyOf(exchange);
      return key === undefined ? undefined : `${key}:${setup}`;
    },
    timeToLive: ({ request }, answer) => ttlMs(request, answer, clock.nowMs(), options),
    async finish({ caller, request, signal }, answer) {
      const pacer = new Pacer(signal);
      if (answer.kind === 'encoded' || (await weighAnswer(answer, pacer)) > maxBytes) return undefined;
      const { categorizeLabels } = caller;
      return atPace(encodeSteps(answer, { categorizeLabels, request }), pacer);
    },
    async encode(key, { contentType, body }, ttl) {
      const packed = Buffer.concat([Buffer.from(`${contentType}\n`), body]);
      if (packed.byteLength > maxBytes + typeRoom) return undefined;
      return toStored(bound(key), packed, ttl, { nowMs: clock.nowMs(), secret });
    },
    async decode(key, bytes) {
      const nowMs = clock.nowMs();
      const found = await fromStored(bound(key), bytes, maxBytes + typeRoom, { nowMs, secret });
      if (found === undefined || found.leftMs <= 0) return undefined;
      const { packed } = found;
      const end = packed.indexOf('\n');
      const contentType = packed.toString('latin1', 0, Math.max(0, end));
      return finishedAnswer(200, packed.subarray(end + 1), contentType);
    },
  };
}

/** Upper bound for the content type stored before the body. */
const typeRoom = 100;

/** Prefixes the key, so that frames of finished answers are never mistaken for frames of other data or other formats. */
function bound(key: string): string {
  return `finished ${key}`;
}

/** Bytes are only cached for complete requests of one tenant without side effects. */
function isWhole(
  { isFinal, caller, request }: Exchange<'tenant'>,
  { streamResponse }: CachingOptions,
): boolean {
  if (!isFinal || caller.method !== 'GET') return false;
  const { cache } = operationOf(request);
  // An answer sent in chunks never exists as one buffer.
  return cache !== 'never' && !(streamResponse && cache.isChunked);
}

/** The result of joining: the shared promise, and whether another caller had started the call. */
interface Joined<Value> {
  readonly result: Promise<Value>;
  readonly isShared: boolean;
}

interface Flight<Value> {
  readonly controller: AbortController;
  readonly result: Promise<Value>;
  waiters: number;
}

/**
 * Merges identical concurrent calls. A waiter that leaves does not affect the others. When the last one leaves, the call is aborted and
 * forgotten. An error reaches the current waiters and nobody later. A call has at most `maxWaiters` waiters; further ones start and share
 * another call.
 */
export class Flights<Value, Key = string> {
  readonly #byKey = new Map<Key, Flight<Value>>();
  readonly #maxWaiters: number;

  constructor(maxWaiters: number) {
    this.#maxWaiters = maxWaiters;
  }

  /** Calls in flight that can still be joined. */
  get size(): number {
    return this.#byKey.size;
  }

  /**
   * Joins the call for this key or starts it. `run` gets its own signal, which aborts when no waiter is left; `signal` only ends this
   * caller's wait. Throws the signal's reason if it has already aborted.
   */
  join(key: Key, signal: AbortSignal, run: (signal: AbortSignal) => Promise<Value>): Joined<Value> {
    signal.throwIfAborted();
    const running = this.#byKey.get(key);
    const isShared = running !== undefined && running.waiters < this.#maxWaiters;
    const flight = isShared ? running : this.#start(key, run);
    return { result: this.#wait(key, flight, signal), isShared };
  }

  #start(key: Key, run: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const controller = new AbortController();
    const flight: Flight<Value> = { controller, waiters: 0, result: startNow(() => run(controller.signal)) };
    this.#byKey.set(key, flight);
    const forget = (): void => this.#forget(key, flight);
    // Every waiter handles the result itself; this also prevents an unhandled rejection without waiters.
    flight.result.then(forget, forget);
    return flight;
  }

  #wait(key: Key, flight: Flight<Value>, signal: AbortSignal): Promise<Value> {
    flight.waiters += 1;
    return new Promise<Value>((resolve, reject) => {
      const leave = (): void => {
        flight.waiters -= 1;
        if (flight.waiters === 0) {
          this.#forget(key, flight);
          flight.controller.abort(signal.reason);
        }
        reject(abortReason(signal));
      };
      signal.addEventListener('abort', leave, { once: true });
      const settled = (): void => signal.removeEventListener('abort', leave);
      flight.result.finally(settled).then(resolve, reject);
    });
  }

  #forget(key: Key, flight: Flight<Value>): void {
    if (this.#byKey.get(key) === flight) this.#byKey.delete(key);
  }
}

/** Calls immediately; a synchronous error becomes a rejection. */
async function startNow<Value>(run: () => Promise<Value>): Promise<Value> {
  return await run();
}

/**
 * The same exchange with its own lifetime: it ends only with `signal`, not with the client that asked first. It is used for calls shared by
 * several clients, and for work after the answer, which has a caller, a trace and an account of its own. Its answer is merged or cached, so
 * it is never final.
 */
export function detachExchange(
  exchange: Exchange<'tenant'>,
  signal: AbortSignal,
  { caller, trace, memory }: Pick<Exchange, 'caller' | 'trace' | 'memory'> = exchange,
): Exchange<'tenant'> {
  const { id, request, slots } = exchange;
  return createExchange({ id, request, caller, trace, memory, signal, isFinal: false }).derive<'tenant'>({
    slots,
  });
}
