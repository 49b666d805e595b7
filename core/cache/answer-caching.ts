/**
 * What a stage needs that keeps finished answers: tier0, and a plugin that takes its place (`ref-proxy/plugin`). What an answer depends on
 * is decided here, so that no cache can forget a part of it.
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

/** The options that keys and times to live depend on; durations in milliseconds. Their schema is `cachingOptions()`. */
export interface CachingOptions extends Forwarding, TtlRules {
  /** Whether log answers are sent in chunks, so that their bytes never exist as a whole. */
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
 * The schema of `CachingOptions`, to be spread into the `properties` of a plugin's own. They follow the flags and the plugins that lead them:
 * a cache cannot be configured to know less of the forwarded credentials than the backend gets.
 */
export function cachingOptions(): Readonly<Record<keyof CachingOptions, object>> {
  const properties = readBuiltInSchemas().get('tier0')?.properties ?? {};
  const chosen = Object.keys(optionNames).map((name) => [name, properties[name] ?? {}]);
  return Object.fromEntries(chosen) as Record<keyof CachingOptions, object>;
}

export interface CachingSettings {
  /** The most bytes of a finished answer. Larger ones are not kept. */
  readonly maxBytes: number;
  /** For stores outside of the process: known to all who write and read; without it whoever can write to the store can forge answers. */
  readonly secret?: string | undefined;
}

export interface AnswerCaching {
  /**
   * A text that is equal for requests with equal answers: of the operation, the tenant and where its data are, the credentials that the backend
   * gets, the parameters, and the options that answers depend on. It is the same in all processes. Undefined where nothing may be kept or
   * given again: a request that is not answered whole or changes something, an operation that is never cached, a tenant with a running deletion.
   */
  cacheKey(exchange: Exchange<'tenant'>): string | undefined;
  /** How long an answer of the rest may be given again, in milliseconds; 0 means not at all (partial answers, bytes that another stage made). */
  timeToLive(exchange: Exchange<'tenant'>, answer: Answer): number;
  /**
   * The answer as the client gets it, with its bytes; undefined when it is larger than `maxBytes`, so that it is passed on as it is.
   * @throws the reason of the exchange's signal, when the client has left meanwhile
   */
  finish(exchange: Exchange<'tenant'>, answer: Answer): Promise<EncodedAnswer | undefined>;
  /**
   * A finished answer as bytes for a store outside of the process: with a version, when it was made, how long it may be used, and a digest over
   * all that and the key. Undefined over `maxBytes`.
   * @param key what it may be read back for: the cache key, and whatever else must be the same then, such as what has been purged
   * @param ttl milliseconds
   */
  encode(key: string, answer: EncodedAnswer, ttl: number): Promise<Buffer | undefined>;
  /** The finished answer that was encoded under this key; undefined for all else: damaged, expired, of another version, key or secret, too large. */
  decode(key: string, bytes: Buffer): Promise<EncodedAnswer | undefined>;
}

/**
 * What a stage that keeps finished answers needs. It declares `keepsAnswers`, has `cachingOptions()` in its schema, and empties itself in `purge`.
 * @throws Error naming an option that the schema of the plugin lacks
 */
export function answerCaching(
  options: CachingOptions,
  host: Pick<Host, 'clock' | 'setup' | 'shared'>,
  { maxBytes, secret }: CachingSettings,
): AnswerCaching {
  for (const name of Object.keys(optionNames))
    if (!Object.hasOwn(options, name))
      throw new Error(
        `option "${name}" is missing: put ...cachingOptions() into the properties of the schema`,
      );
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
/** What a content type takes beside the body. */
const typeRoom = 100;

/** Frames of finished answers are told from those of others, and from those of another form. */
function bound(key: string): string {
  return `finished ${key}`;
}

/** Bytes are only kept for complete requests of one tenant that change nothing. */
function isWhole(
  { isFinal, caller, request }: Exchange<'tenant'>,
  { streamResponse }: CachingOptions,
): boolean {
  if (!isFinal || caller.method !== 'GET') return false;
  const { cache } = operationOf(request);
  // An answer sent in chunks never exists as one buffer.
  return cache !== 'never' && !(streamResponse && cache.isChunked);
}
