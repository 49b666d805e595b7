/** Stage `tier0`: answers repeated GET requests with the bytes that were sent the first time. */
import { ApiError } from '../../core/base/errors/api-error.js';
import { RefusedQuery } from '../../core/base/errors/refused-query.js';
import { ByteLru, largestEntryDivisor } from '../../core/base/memory/byte-lru.js';
import { cacheBudget } from '../../core/base/memory/account.js';
import type { Tier0Options } from '../../core/base/options.gen.js';
import { ageBuckets } from '../../core/cache/answer-tier.js';
import { cacheRoom } from '../../core/base/memory/cache-room.js';
import {
  type Answer,
  answerCaching,
  defineStage,
  type Exchange,
  Generations,
  type Host,
  type PurgeScope,
  type Stage,
} from '../../core/plugin/index.js';
import type { EncodedAnswer, GzipForm } from '../../core/wire/answer/types.js';

const metrics = {
  compat_cache_hits_total: { type: 'counter', help: 'Response cache (tier0) hits.' },
  compat_cache_misses_total: { type: 'counter', help: 'Response cache (tier0) misses.' },
  compat_cache_age_seconds: {
    type: 'histogram',
    help: 'Age of response cache (tier0) hits.',
    buckets: ageBuckets,
  },
  compat_cache_drops_total: {
    type: 'counter',
    help: 'Response cache (tier0) entries that were dropped or refused.',
    labels: ['reason'],
  },
  compat_cache_entries: { type: 'gauge', help: 'Entries in the response cache (tier0).' },
  compat_cache_bytes: {
    type: 'gauge',
    help: 'Size of the response cache (tier0) in bytes, including gzip variants.',
  },
} as const;

export default defineStage<Tier0Options, 'tenant', never, typeof metrics>({
  name: 'tier0',
  summary: 'Response cache (tier0): caches encoded responses to safe GET requests.',
  needs: ['tenant'],
  gives: [],
  rest: 'maybe',
  optional: true,
  keepsAnswers: true,
  metrics,
  create: (options, host) => {
    const budget = budgetOf(options);
    return budget === undefined ? passThrough : responseCache(options, budget, host);
  },
});

const passThrough: Stage<'tenant', never> = { handle: (exchange, rest) => rest(exchange) };

interface Kept {
  readonly answer: EncodedAnswer;
  readonly madeAtMs: number;
  /** Distinguishes the answer from every other answer of this process. */
  readonly madeAs: number;
}

function responseCache(
  options: Tier0Options,
  budget: Budget,
  host: Host<typeof metrics>,
): Stage<'tenant', never> {
  const { meters, clock } = host;
  const caching = answerCaching(options, host, { maxBytes: budget.maxBytes / largestEntryDivisor });
  /** The generation is part of every key: an answer requested before a purge is neither cached nor found after it. */
  const generations = new Generations();
  let answersMade = 0;
  const resized = (entries: number, bytes: number): void => {
    meters.compat_cache_entries.set(entries, {});
    meters.compat_cache_bytes.set(bytes, {});
  };
  resized(0, 0);
  const dropped = (reason: string): void => meters.compat_cache_drops_total.add(1, { reason });
  const bodies = new ByteLru<Kept>({ ...budget, clock, observer: { resized, dropped } });
  host.onStop(cacheRoom(options, host).add(bodies));

  function miss({ trace }: Exchange<'tenant'>): void {
    trace.cache('miss');
    meters.compat_cache_misses_total.add(1, {});
  }

  function hit({ madeAtMs }: Kept): void {
    meters.compat_cache_hits_total.add(1, {});
    meters.compat_cache_age_seconds.observe((clock.monotonicMs() - madeAtMs) / 1000, {});
  }

  const purge = (_scope: PurgeScope, tenantId?: string): void => {
    generations.next(tenantId);
    if (tenantId === undefined) bodies.clear();
  };

  return {
    async handle(exchange, rest) {
      const question = caching.cacheKey(exchange);
      if (question === undefined) return rest(exchange);
      const generation = generations.of(question);
      const key = `${generation} ${question}`;
      const kept = bodies.get(key);
      if (kept !== undefined) {
        exchange.trace.cache('hit');
        hit(kept);
        return kept.answer;
      }
      let answer: Answer;
      try {
        answer = await rest(exchange);
      } catch (error) {
        if (!isRefused(error)) miss(exchange);
        throw error;
      }
      miss(exchange);
      const ttl = caching.timeToLive(exchange, answer);
      // An answer that will not be cached is encoded at the HTTP edge with the same result.
      const encoded = ttl === 0 ? undefined : await caching.finish(exchange, answer);
      if (encoded === undefined) return answer;
      const body = alone(encoded.body);
      const bytes = body.byteLength;
      const gzip = new KeptGzip(body, (more) => bodies.resize(key, made, bytes + more));
      const finished: EncodedAnswer = { ...encoded, body, gzip };
      answersMade += 1;
      const made = { answer: finished, madeAtMs: clock.monotonicMs(), madeAs: answersMade };
      if (generation === generations.of(question)) bodies.set(key, made, bytes, ttl);
      return finished;
    },
    /** Repeats the answer while it is cached and there was no purge. */
    answerAgain(exchange, answer) {
      const question = caching.cacheKey(exchange);
      if (question === undefined) return undefined;
      const generation = generations.of(question);
      const key = `${generation} ${question}`;
      const first = bodies.peek(key);
      if (first?.answer !== answer) return undefined;
      const { madeAs } = first;
      let found: Kept | undefined;
      return {
        find: () => {
          found = generations.of(question) === generation ? bodies.get(key) : undefined;
          // Holds no reference to the answer itself, so that its memory is freed when the cache evicts it.
          return found?.madeAs === madeAs ? found.answer : undefined;
        },
        given: () => {
          if (found !== undefined) hit(found);
          found = undefined;
        },
      };
    },
    /** Empties the cache on SIGHUP, which may follow a change that is not visible here, such as one of the backend. */
    reload() {
      host.log.info('response cache flushed by a reload', { 'cache.entries': bodies.entries });
      purge('answers');
    },
    purge,
  };
}

interface Budget {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** The share of the cache budget for finished answers; undefined if there is none. */
function budgetOf(options: Tier0Options): Budget | undefined {
  const share = options.maxPercent / 100;
  const budget = {
    maxEntries: Math.floor(options.cacheMax * share),
    maxBytes: Math.floor(cacheBudget(options.cacheMaxBytes) * share),
  };
  return options.enabled && budget.maxEntries > 0 && budget.maxBytes > 0 ? budget : undefined;
}

/** True for a request that fails because of its content, so that its answer could not have been cached here. */
function isRefused(error: unknown): boolean {
  return error instanceof RefusedQuery || (error instanceof ApiError && error.status < 499);
}

/**
 * The gzip form of a body, made for the first client that accepts it. Clients that request it meanwhile wait for the same bytes. It is
 * cached as long as the body, or made again each time if there is no room for it.
 */
class KeptGzip implements GzipForm {
  readonly #body: Buffer;
  readonly #hasRoom: (bytes: number) => boolean;
  #made: Promise<Buffer> | undefined;
  #kept: Buffer | undefined;

  constructor(body: Buffer, hasRoom: (bytes: number) => boolean) {
    this.#body = body;
    this.#hasRoom = hasRoom;
  }

  get kept(): Buffer | undefined {
    return this.#kept;
  }

  of(body: Buffer, compress: (body: Buffer) => Promise<Buffer>): Promise<Buffer> {
    // A stage in between may have replaced the answer's body.
    if (body !== this.#body) return compress(body);
    this.#made ??= this.#make(compress);
    return this.#made;
  }

  async #make(compress: (body: Buffer) => Promise<Buffer>): Promise<Buffer> {
    let isKept = false;
    try {
      const gzipped = alone(await compress(this.#body));
      isKept = this.#hasRoom(gzipped.byteLength);
      if (isKept) this.#kept = gzipped;
      return gzipped;
    } finally {
      if (!isKept) this.#made = undefined;
    }
  }
}

/** Copies a buffer that is part of a larger one, as small ones are in Node.js: the larger one would stay in memory with it. */
function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  bytes.copy(copy);
  return copy;
}
