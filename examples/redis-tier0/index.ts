import { createHash, randomUUID } from 'node:crypto';
import { createClient } from '@keyv/redis';
import {
  answerCaching,
  cachingOptions,
  defineStage,
  type Answer,
  type AnswerCaching,
  type CachingOptions,
  type Exchange,
  type Host,
  type PurgeScope,
  type Rest,
  type Stage,
} from 'ref-proxy/plugin';

export interface Options extends CachingOptions {
  readonly url: string;
  readonly prefix: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly maxAnswerBytes: number;
  readonly secret?: string;
}

const metrics = {
  redis_tier0_hits_total: { type: 'counter', help: 'Requests answered with bytes from Redis.' },
  redis_tier0_misses_total: { type: 'counter', help: 'Requests whose bytes were not in Redis.' },
  redis_tier0_failures_total: {
    type: 'counter',
    help: 'Commands that Redis refused or did not answer in time.',
  },
  redis_tier0_drops_total: {
    type: 'counter',
    help: 'Answers not written because too many bytes were waiting.',
  },
} as const;

/** Replaces tier0 with Redis: all replicas share the final bytes of answers. */
export default defineStage<Options, 'tenant', never, typeof metrics>({
  name: 'redis-tier0',
  summary: 'Keeps the final bytes of answers in Redis.',
  schema: {
    type: 'object',
    properties: {
      // The options that cache keys and TTLs depend on. They follow the flags and the plugin "backend" automatically.
      ...cachingOptions(),
      url: {
        type: 'string',
        minLength: 1,
        description: 'Where Redis is: redis[s]://[[user]:password@]host[:port][/database].',
        'x-flag': 'redis-tier0.url',
        'x-secret': true,
        'x-neutral': true,
      },
      prefix: {
        type: 'string',
        default: 'ref-proxy:tier0:',
        description: 'What names in Redis begin with. Replicas with the same prefix share their answers.',
        'x-neutral': true,
      },
      timeout: {
        type: 'string',
        format: 'duration',
        default: '100ms',
        description: 'How long a request waits for Redis at most.',
        'x-neutral': true,
      },
      maxAnswerBytes: {
        type: 'integer',
        minimum: 1,
        default: 1_048_576,
        description: 'The largest answer that is kept.',
        'x-neutral': true,
        'x-unit': 'bytes',
      },
      secret: {
        type: 'string',
        minLength: 1,
        description: 'Known to all replicas. Without it, whoever can write to Redis can forge answers.',
        'x-flag': 'redis-tier0.secret',
        'x-secret': true,
        'x-neutral': true,
      },
    },
    required: ['url'],
    additionalProperties: false,
  },
  needs: ['tenant'],
  gives: [],
  rest: 'maybe',
  // The chain gives the same answers without this stage, and skips the stages below when this one answers.
  optional: true,
  keepsAnswers: true,
  metrics,
  create: (options, host) => new RedisTier0(options, host),
});

class RedisTier0 implements Stage<'tenant', never> {
  readonly #caching: AnswerCaching;
  readonly #store: Store;
  readonly #host: Host<typeof metrics>;

  constructor(options: Options, host: Host<typeof metrics>) {
    const { maxAnswerBytes: maxBytes, secret } = options;
    this.#caching = answerCaching(options, host, { maxBytes, secret });
    this.#store = new Store(options, host);
    this.#host = host;
  }

  async handle(exchange: Exchange<'tenant'>, rest: Rest): Promise<Answer> {
    const key = this.#caching.cacheKey(exchange);
    const found = key === undefined ? undefined : await this.#store.find(key, exchange.slots.tenant.id);
    // Caching is not allowed, or Redis is unavailable: the chain answers as it would without this stage.
    if (key === undefined || found === undefined) return rest(exchange);
    // The bytes are bound to the generation, so nothing written before a purge can be read after it.
    const boundKey = `${found.generation} ${key}`;
    const kept = found.bytes && (await this.#caching.decode(boundKey, found.bytes));
    exchange.trace.cache(kept ? 'hit' : 'miss');
    this.#host.meters[kept ? 'redis_tier0_hits_total' : 'redis_tier0_misses_total'].add(1, {});
    if (kept) return kept;

    const answer = await rest(exchange);
    const ttl = this.#caching.timeToLive(exchange, answer);
    const finished = ttl === 0 ? undefined : await this.#caching.finish(exchange, answer);
    if (finished === undefined) return answer;
    const bytes = await this.#caching.encode(boundKey, finished, ttl);
    // The client does not wait for the write.
    if (bytes !== undefined) void this.#store.keep(key, bytes, ttl);
    return finished;
  }

  start(): Promise<void> {
    this.#store.open();
    return Promise.resolve();
  }

  /** A reload may follow a change that is not visible here, such as a change of the backend. */
  reload(): Promise<void> {
    return this.#store.purge();
  }

  /** Called for a flush, a deletion, or a change of the tenant map. */
  async purge(_scope: PurgeScope, tenantId?: string): Promise<void> {
    await this.#store.purge(tenantId);
  }

  stop(): Promise<void> {
    this.#store.close();
    return Promise.resolve();
  }
}

interface Found {
  /** The purge generation when the store was read; every purge changes it. */
  readonly generation: string;
  readonly bytes: Buffer | undefined;
}

/** Time without requests to Redis after a failure. */
const pauseMs = 1_000;
const longestRetryMs = 10_000;
const maxCommands = 1_000;
/** Maximum bytes queued for writing. */
const maxWaitingBytes = 16 * 1024 * 1024;
/** More concurrent purges become a purge of everything. */
const maxPurges = 1_000;
/** Longer than the TTL of any answer. */
const generationMs = 30 * 86_400_000;
/** Bytes of a value in addition to the body of its answer. */
const headRoom = 1_024;
/** The RESP type code of a blob string. */
const blobString = 36;

/** The Redis client, which may be unavailable. Its methods never reject; a failure counts as not found. */
class Store {
  readonly #options: Options;
  readonly #host: Host<typeof metrics>;
  readonly #client;
  /** Names of generations that must be renewed before the cache is used again. */
  readonly #purges = new Set<string>();
  #waitingBytes = 0;
  #pausedUntilMs = -Infinity;
  #isFailing = false;

  constructor(options: Options, host: Host<typeof metrics>) {
    this.#options = options;
    this.#host = host;
    this.#client = createClient({
      url: options.url,
      // Commands do not wait for a connection.
      disableOfflineQueue: true,
      commandsQueueMaxLength: maxCommands,
      commandOptions: { typeMapping: { [blobString]: Buffer } },
      socket: {
        connectTimeout: 2_000,
        reconnectStrategy: (retries) => Math.min(longestRetryMs, 100 * 2 ** Math.min(retries, 10)),
      },
    });
    this.#client.on('error', (error: Error) => this.#failed(error));
  }

  /** Connects, and reconnects when the connection is lost. Startup does not wait for it. */
  open(): void {
    void this.#client.connect().catch((error: unknown) => this.#failed(error));
  }

  close(): void {
    if (this.#client.isOpen) this.#client.destroy();
  }

  /** Returns undefined when Redis cannot be used. */
  find(key: string, tenantId: string): Promise<Found | undefined> {
    return this.#attempt(async () => {
      const purged = this.#sendPurges();
      const names = [this.#generationName(), this.#generationName(tenantId)];
      const most = this.#options.maxAnswerBytes + headRoom;
      const [value, generations] = await Promise.all([
        // Reads no more than the largest answer, whatever the stored size.
        this.#client.getRange(this.#valueName(key), 0, most),
        this.#generations(names),
        purged,
      ]);
      const bytes = Buffer.from(value ?? '');
      return { generation: generations.join(' '), bytes: bytes.byteLength === 0 ? undefined : bytes };
    });
  }

  async keep(key: string, bytes: Buffer, ttl: number): Promise<void> {
    if (this.#waitingBytes + bytes.byteLength > maxWaitingBytes) {
      this.#host.meters.redis_tier0_drops_total.add(1, {});
      return;
    }
    await this.#attempt(async () => {
      this.#waitingBytes += bytes.byteLength;
      try {
        await this.#client.set(this.#valueName(key), bytes, {
          expiration: { type: 'PX', value: Math.max(1, Math.floor(ttl)) },
        });
      } finally {
        this.#waitingBytes -= bytes.byteLength;
      }
    });
  }

  /** Ends the generation of a tenant, or of everything. The cache is not used until Redis has accepted the purge. */
  async purge(tenantId?: string): Promise<void> {
    if (this.#purges.size < maxPurges) this.#purges.add(this.#generationName(tenantId));
    else this.#purges.clear();
    if (this.#purges.size === 0) this.#purges.add(this.#generationName());
    await this.#attempt(() => this.#sendPurges());
  }

  /** Redis runs commands in the order they are sent, so later reads see the new generations. */
  async #sendPurges(): Promise<void> {
    const names = [...this.#purges];
    this.#purges.clear();
    await Promise.all(
      names.map(async (name) => {
        try {
          await this.#client.set(name, randomUUID(), { expiration: { type: 'PX', value: generationMs } });
        } catch (error) {
          this.#purges.add(name);
          throw error;
        }
      }),
    );
  }

  /** A name that does not exist yet, or that Redis has lost, gets a new generation. */
  async #generations(names: string[]): Promise<readonly string[]> {
    const texts = await this.#client.mGet(names);
    const missing = names.filter((_, index) => texts[index] === null);
    if (missing.length === 0) return texts.map(String);
    const expiration = { type: 'PX', value: generationMs } as const;
    await Promise.all(
      missing.map((name) => this.#client.set(name, randomUUID(), { condition: 'NX', expiration })),
    );
    return (await this.#client.mGet(names)).map(String);
  }

  async #attempt<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
    const { clock } = this.#host;
    if (!this.#client.isReady || clock.monotonicMs() < this.#pausedUntilMs) return undefined;
    try {
      const value = await within(this.#options.timeout, work());
      this.#isFailing = false;
      return value;
    } catch (error) {
      this.#host.meters.redis_tier0_failures_total.add(1, {});
      this.#pausedUntilMs = clock.monotonicMs() + pauseMs;
      this.#failed(error);
      return undefined;
    }
  }

  /** Logs one record per outage. */
  #failed(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#host.log.warn('Redis fails, requests are answered without it', { error });
  }

  #valueName(key: string): string {
    return `${this.#options.prefix}answer:${digest(key)}`;
  }

  #generationName(tenantId?: string): string {
    const { prefix } = this.#options;
    return tenantId === undefined ? `${prefix}generation` : `${prefix}generation:${digest(tenantId)}`;
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

async function within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
