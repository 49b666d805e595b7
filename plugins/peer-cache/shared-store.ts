import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { CircuitBreaker, failuresInARow } from '../../core/base/admission/circuit-breaker.js';
import { ByteLru } from '../../core/base/memory/byte-lru.js';
import { AdaptiveTimeout } from '../../core/base/pace/adaptive-timeout.js';
import type { LogFields } from '../../core/base/logger.js';
import { within } from '../../core/base/time/within.js';
import type { AnswerHit, AnswerTier } from '../../core/cache/answer-tier.js';
import { frameBytes, fromStored, toStored } from '../../core/cache/frame.js';
import { tenantOf } from '../../core/cache/keys.js';
import type { Host } from '../../core/plugin/index.js';
import type { sharedMetrics } from './shared-metrics.js';
import { odd, reasonOf, tooLate, type FailureReason } from './store-failure.js';
import { startInterval } from '../../core/base/time/waits.js';

export interface SharedStoreSettings {
  /** `redis[s]://[[user]:password@]host[:port][/database]` */
  readonly url: string;
  /** Prefix of all names in the store. Replicas with the same prefix share their entries. */
  readonly prefix: string;
  /** Secret shared by all replicas. Without it, anyone who can write to the store can forge answers. */
  readonly secret: string | undefined;
  /** Maximum time in milliseconds that a request waits for a lookup. */
  readonly mostWaitMs?: number;
}

export type SharedHost = Pick<Host<typeof sharedMetrics>, 'clock' | 'log' | 'meters' | 'purgeHere'>;

/** Maximum size of an answer, before compression. */
const largestShared = 8 * 1024 * 1024;
const maxWaitingBytes = 32 * 1024 * 1024;
/** Answers with a lower remaining TTL are not worth fetching. */
const leastLeftMs = 5_000;
/** Timeout of commands that no request waits for. */
const commandMs = 2_000;
/** Interval for polling the generations, and maximum wait at startup. */
const tickMs = 1_000;
/** Maximum number of tenants whose purges are followed; the least recently used are dropped. */
const maxTenants = 10_000;
const maxTenantBytes = 8 * 1024 * 1024;
const logEveryMs = 60_000;
/** TTL of generations in the store, far longer than that of any answer. */
const generationMs = 30 * 86_400_000;
/** RESP's type of binary strings. */
const blobs = 36;
/** The area that covers all entries. Other areas are tenants as they begin a key, which are never empty. */
const everything = '';
/** Prefix of the generation of a purged area. A generation that the store had lost is recreated without it, and causes no purge. */
const purgedMark = 'purged';
/** A full store may fail to create a generation. */
const none = Buffer.alloc(0);

/** Loaded lazily: its four hundred modules are a third of all modules that a start would load, and most proxies have no shared store. */
const loadRedis = () => import('@keyv/redis');

function clientFor({ createClient }: Redis, url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    disableClientInfo: true,
    commandsQueueMaxLength: 4_000,
    commandOptions: { typeMapping: { [blobs]: Buffer } },
    socket: { connectTimeout: commandMs, reconnectStrategy: (tries) => Math.min(10_000, 500 * 2 ** tries) },
  });
}

type Redis = Awaited<ReturnType<typeof loadRedis>>;
type Client = ReturnType<typeof clientFor>;

/**
 * The tier that replicas share: a Valkey or Redis behind memory and disk. The name of a value is a digest of its key and of two
 * generations, of the whole store and of its tenant, which are in the store too. A purge by any replica sets a new generation, after which
 * no earlier value is found. The store may be slow, full, unreachable or compromised: requests have a short adaptive timeout, a circuit
 * breaker stops repeated waits, and values that fail verification are misses.
 */
export class SharedStore implements AnswerTier {
  readonly leastTtlMs = leastLeftMs;
  readonly #settings: SharedStoreSettings;
  readonly #host: SharedHost;
  readonly #breaker: CircuitBreaker;
  readonly #timeout: AdaptiveTimeout;
  #redis: Redis | undefined;
  #client: Client | undefined;
  /** Last known generation of each area. */
  readonly #generations: ByteLru<string>;
  /** New generations of areas that this process has purged, until the store has them. */
  readonly #pending = new Map<string, string>();
  /** The last run that sends pending purges. */
  #sending = Promise.resolve();
  /** Areas that another replica has purged, until the caches of this process have been purged. */
  readonly #dropping = new Set<string>();
  /** Set while this process follows a purge by another replica. */
  readonly #isFollowing = new AsyncLocalStorage<true>();
  #waitingBytes = 0;
  /** Undefined before the first response. */
  #isUp: boolean | undefined;
  readonly #logAtMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: SharedStoreSettings, host: SharedHost) {
    const { mostWaitMs = 100 } = settings;
    this.#settings = settings;
    this.#host = host;
    this.#generations = new ByteLru({ maxEntries: maxTenants, maxBytes: maxTenantBytes, clock: host.clock });
    this.#timeout = new AdaptiveTimeout({ leastMs: mostWaitMs / 2, mostMs: mostWaitMs });
    this.#breaker = new CircuitBreaker(failuresInARow, host.clock, (state) => {
      // Answers after a timeout or an unexpected response can no longer be attributed, so the connection is replaced.
      if (state === 'open') void this.#connect().catch(ignore);
      this.#show(state === 'closed');
    });
  }

  /** Connects. Startup waits only briefly for the store; connecting is retried. */
  async start(): Promise<void> {
    this.#host.meters.shared_cache_up.set(0, {});
    this.#redis = await loadRedis();
    this.#timer = startInterval(() => void this.tick(), tickMs).unref();
    await within(tickMs, this.#connect(), tooLate).catch(ignore);
    await this.tick();
  }

  /** Waits for pending writes, up to the timeout of a command. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client?.isReady === true) await within(commandMs, client.close(), tooLate).catch(ignore);
    if (client?.isOpen === true) client.destroy();
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  async get(key: string): Promise<AnswerHit | undefined> {
    if (this.#isPending(tenantOf(key))) return undefined;
    const fromMs = this.#host.clock.monotonicMs();
    const hit = await this.#call(this.#timeout.ms, (client) => this.#lookUp(client, key));
    const { meters, clock } = this.#host;
    meters.shared_cache_lookup_seconds.observe((clock.monotonicMs() - fromMs) / 1000, {});
    if (hit === undefined) meters.shared_cache_misses_total.add(1, {});
    else {
      meters.shared_cache_hits_total.add(1, {});
      meters.shared_cache_age_seconds.observe(hit.ageMs / 1000, {});
    }
    return hit;
  }

  set(key: string, packed: Buffer, ttlMs: number): void {
    if (ttlMs < leastLeftMs) return;
    const name = this.#breaker.state === 'closed' ? this.#nameOf(key) : undefined;
    if (name === undefined) this.#dropped('off');
    else if (packed.byteLength > largestShared || this.#waitingBytes + packed.byteLength > maxWaitingBytes)
      this.#dropped('refused');
    else void this.#write(name, packed, ttlMs);
  }

  async delete(key: string): Promise<void> {
    const name = this.#nameOf(key);
    if (name !== undefined) await this.#call(commandMs, (client) => client.unlink(name));
  }

  purge(): Promise<void> {
    return this.#purge(everything);
  }

  purgeBeginning(prefix: string): Promise<void> {
    return this.#purge(tenantOf(prefix));
  }

  /** Sends pending purges to the store and polls for those of others. Called every second. */
  async tick(): Promise<void> {
    await this.#sendPurges();
    const areas = [...new Set([everything, ...this.#generations.keys()])];
    await this.#call(commandMs, (client) => this.#learn(client, areas));
  }

  async #lookUp(client: Client, key: string): Promise<AnswerHit | undefined> {
    const areas = [everything, tenantOf(key)];
    const fromMs = this.#host.clock.monotonicMs();
    if (this.#nameOf(key) === undefined) await this.#learn(client, areas);
    const name = this.#nameOf(key);
    if (name === undefined) return undefined;
    // The value is read before the generations, so that a purge after it is noticed. One byte too many detects an oversized value.
    const [value, storeLeftMs] = await Promise.all([
      client.getRange(name, 0, largestShared + frameBytes),
      client.pTTL(name),
      this.#learn(client, areas),
    ]);
    this.#timeout.answered(this.#host.clock.monotonicMs() - fromMs);
    if (!Buffer.isBuffer(value) || typeof storeLeftMs !== 'number') throw new Error(odd);
    if (value.byteLength === 0 || this.#nameOf(key) !== name) return undefined;
    const { secret } = this.#settings;
    const hit = await fromStored(name, value, largestShared, { nowMs: this.#host.clock.nowMs(), secret });
    if (hit === undefined) {
      this.#dropped('damaged');
      this.#warn('dropped an answer of the shared cache that is not the value written under its key');
      return undefined;
    }
    // Clocks of replicas differ: the store's own TTL counts where it is lower.
    const leftMs = Math.min(hit.leftMs, storeLeftMs < 0 ? Infinity : storeLeftMs);
    return leftMs < leastLeftMs || this.#nameOf(key) !== name ? undefined : { ...hit, leftMs };
  }

  async #write(name: string, packed: Buffer, ttlMs: number): Promise<void> {
    const { secret } = this.#settings;
    const expiration = { type: 'PX', value: Math.floor(ttlMs) } as const;
    this.#wait(packed.byteLength);
    try {
      const nowMs = this.#host.clock.nowMs();
      const value = await toStored(name, packed, expiration.value, { nowMs, secret });
      const written = await this.#call(commandMs, (client) => client.set(name, value, { expiration }));
      if (written === undefined) this.#dropped('lost');
      else this.#host.meters.shared_cache_sets_total.add(1, {});
    } finally {
      this.#wait(-packed.byteLength);
    }
  }

  #wait(bytes: number): void {
    this.#waitingBytes += bytes;
    this.#host.meters.shared_cache_waiting_bytes.set(this.#waitingBytes, {});
  }

  /** Records a purge of this process, unless it follows another replica's. The area is unused until the store has its new generation. */
  async #purge(area: string): Promise<void> {
    if (this.#isFollowing.getStore() === true) return;
    this.#generations.delete(area);
    this.#pending.set(this.#pending.size < maxTenants ? area : everything, `${purgedMark} ${randomUUID()}`);
    await this.#sendPurges();
    if (this.#pending.has(area))
      this.#warn(
        'cannot purge the shared cache: other replicas may read purged answers from it until a retry succeeds',
      );
  }

  /** One run after another: a write that failed deletes the generation, which must not be one that a later write has set. */
  #sendPurges(): Promise<void> {
    this.#sending = this.#sending.then(() => this.#sendPending());
    return this.#sending;
  }

  async #sendPending(): Promise<void> {
    for (const [area, generation] of this.#pending) {
      const expiration = { type: 'PX', value: generationMs } as const;
      const name = this.#areaName(area);
      const isSent = await this.#call(commandMs, (client) => client.set(name, generation, { expiration }));
      // The area was purged again.
      if (this.#pending.get(area) !== generation) continue;
      // A full store still deletes, and without a generation no value of the area is used.
      if (isSent === undefined) {
        await this.#call(commandMs, (client) => client.unlink(name));
        continue;
      }
      this.#pending.delete(area);
      this.#generations.set(area, generation, generation.length, Infinity);
      this.#host.meters.shared_cache_purges_total.add(1, { by: 'this' });
    }
  }

  /** Reads generations; creates missing ones, and follows purges by other replicas. */
  async #learn(client: Client, areas: readonly string[]): Promise<void> {
    const names = areas.map((area) => this.#areaName(area));
    let generations: readonly unknown[] = await client.mGet(names);
    const missing = names.filter((_, index) => generations[index] === null);
    if (missing.length > 0) {
      const options = { condition: 'NX', expiration: { type: 'PX', value: generationMs } } as const;
      for (const name of missing) void client.set(name, randomUUID(), options).catch(ignore);
      generations = await client.mGet(names);
    }
    if (!Array.isArray(generations) || generations.length !== areas.length) throw new Error(odd);
    areas.forEach((area, index) => {
      const generation: unknown = generations[index] ?? none;
      if (!Buffer.isBuffer(generation)) throw new Error(odd);
      this.#learnt(area, generation.toString('latin1'));
    });
  }

  #learnt(area: string, generation: string): void {
    const before = this.#generations.get(area);
    if (this.#pending.has(area) || this.#dropping.has(area)) return;
    if (before === undefined || before === generation || !generation.startsWith(purgedMark)) {
      this.#generations.set(area, generation, generation.length, Infinity);
      return;
    }
    // The area is not used until all caches of this process have been purged.
    this.#dropping.add(area);
    this.#generations.delete(area);
    this.#host.meters.shared_cache_purges_total.add(1, { by: 'another' });
    const tenantId = area === everything ? undefined : decodeURIComponent(area);
    const dropped = this.#isFollowing.run(true, () => this.#host.purgeHere('all', tenantId));
    void dropped.catch(ignore).finally(() => {
      this.#dropping.delete(area);
      // Before Node 24, a store in use makes every promise of the process slower.
      if (this.#dropping.size === 0) this.#isFollowing.disable();
    });
  }

  #isPending(tenant: string): boolean {
    return this.#pending.has(everything) || this.#pending.has(tenant);
  }

  /** The name of a value; undefined while a generation is unknown. */
  #nameOf(key: string): string | undefined {
    const tenant = tenantOf(key);
    const [all, own] = [this.#generations.get(everything), this.#generations.get(tenant)];
    if (!all || !own || this.#isPending(tenant)) return undefined;
    return this.#settings.prefix + this.#digest(`${all} ${own} ${key}`);
  }

  #areaName(area: string): string {
    return `${this.#settings.prefix}generation${area === everything ? '' : `:${this.#digest(area)}`}`;
  }

  /** Hashes a key, because keys contain queries and may be long. */
  #digest(text: string): string {
    const { secret } = this.#settings;
    const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
    return hash.update(text).digest('base64url');
  }

  /** Runs commands, unless the breaker is open. A failure is counted, and yields undefined. */
  async #call<Value>(ms: number, commands: (client: Client) => Promise<Value>): Promise<Value | undefined> {
    const client = this.#client;
    const permit = client === undefined ? undefined : this.#breaker.tryAdmit();
    if (client === undefined || permit === undefined) return undefined;
    try {
      const value = await within(ms, commands(client), tooLate);
      permit.succeed();
      this.#show(this.#breaker.state === 'closed');
      return value;
    } catch (error) {
      const reason = this.#failed(error);
      if (reason === 'timeout') this.#timeout.wasLate();
      // A full store can still be read.
      if (reason === 'full') permit.succeed();
      else permit.fail();
      return undefined;
    }
  }

  /** Opens a new connection in place of one that is no longer trusted; the client retries until it succeeds. */
  async #connect(): Promise<void> {
    if (this.#redis === undefined) return;
    if (this.#client?.isOpen === true) this.#client.destroy();
    this.#client = clientFor(this.#redis, this.#settings.url);
    this.#client.on('error', (error: unknown) => this.#failed(error));
    await this.#client.connect();
  }

  #show(isUp: boolean): void {
    if (this.#client === undefined || isUp === this.#isUp) return;
    if (!isUp)
      this.#host.log.error(
        'shared cache failed and is turned off; the proxy retries every few seconds',
        this.#where,
      );
    else if (this.#isUp === false) this.#host.log.info('shared cache works again', this.#where);
    this.#isUp = isUp;
    this.#host.meters.shared_cache_up.set(isUp ? 1 : 0, {});
  }

  get #where(): { readonly 'server.address': string } {
    return { 'server.address': new URL(this.#settings.url).host };
  }

  #dropped(reason: 'off' | 'refused' | 'lost' | 'damaged'): void {
    this.#host.meters.shared_cache_drops_total.add(1, { reason });
  }

  #failed(error: unknown): FailureReason {
    const reason = reasonOf(error);
    this.#host.meters.shared_cache_errors_total.add(1, { reason });
    this.#warn('a command of the shared cache failed', { reason });
    return reason;
  }

  #warn(body: string, fields: LogFields = {}): void {
    const nowMs = this.#host.clock.monotonicMs();
    if (nowMs < (this.#logAtMs.get(body) ?? -Infinity)) return;
    this.#logAtMs.set(body, nowMs + logEveryMs);
    this.#host.log.warn(body, { ...this.#where, ...fields });
  }
}

function ignore(): void {
  // Every failure reaches the caller, or the listener for errors.
}
