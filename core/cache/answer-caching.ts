/**
 * Helpers for a stage that caches finished answers: tier0, and plugins that replace it (`ref-proxy/plugin`). Everything an answer depends
 * on is decided here, so that no cache can forget a part of it.
 */
import { Pacer } from '../base/pace/pacer.js';
import { atPace } from '../base/pace/steps.js';
import { readBuiltInSchemas } from '../kernel/options/schema-files.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Host } from '../kernel/plugin/host.js';
import { operationOf } from '../operations/index.js';
import type { TtlRules } from '../operations/descriptor.js';
import { encodeSteps } from '../wire/answer/encode.js';
import { weighAnswer } from '../wire/answer/merge/index.js';
import type { Answer, EncodedAnswer } from '../wire/answer/types.js';
import { runningDeletions } from './deletions.js';
import { type Forwarding, createCacheKeys } from './keys.js';
import { fromStored, toStored } from './frame.js';
import { ttlMs } from './ttl.js';

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
      const encoded = await atPace(encodeSteps(answer, { categorizeLabels, request }), pacer);
      return { kind: 'encoded', headers: noHeaders, ...encoded };
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
      return {
        kind: 'encoded',
        status: 200,
        contentType,
        headers: noHeaders,
        body: packed.subarray(end + 1),
      };
    },
  };
}

const noHeaders: ReadonlyMap<string, string> = new Map();
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
