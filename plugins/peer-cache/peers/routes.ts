import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import type { AnswerHit } from '../../../core/cache/answer-tier.js';
import type { Fleet } from '../../../core/cache/fleet.js';
import { tenantOf } from '../../../core/cache/keys.js';
import {
  apiError,
  finishedAnswer,
  jsonAnswer,
  type Answer,
  type Caller,
  type HttpCall,
  type RouteHandler,
} from '../../../core/plugin/index.js';
import { minUsableMs, type PeerTier } from './peer-tier.js';
import { hotIndexOf, maxHot } from './hot-index.js';
import { leastCompressed } from '../../../core/base/encoding.js';
import { framed, unframed } from '../../../core/cache/frame.js';
import type { Members } from './members.js';
import { largestSet, makingHeader, type PeerHouse } from './peer.js';

const maxKeys = 200;
const usualTtlMs = 30_000;
/** Maximum TTL of values of other programs. */
const maxForeignMs = 86_400_000;
const bytesType = 'application/octet-stream';
const jsonType = 'application/json';
/** Maximum number of bodies that are read or decoded at once, which bounds their memory. */
const maxReceiving = 8;
/** Maximum number of snapshots that are made or sent at once. */
const maxOffering = 4;

export interface PeerRoutesSettings {
  readonly house: PeerHouse;
  readonly members: Members;
  readonly tier: Pick<PeerTier, 'front' | 'hot' | 'making' | 'foreign'>;
  readonly options: Pick<
    PeerCacheOptions,
    'peerHotReadAheadTopN' | 'peerHotReadAheadMinTtl' | 'peerHotReadAheadMaxObjectBytes'
  >;
  readonly gate: (caller: Caller) => void;
  /** The snapshots that this process offers. */
  readonly fleet: Pick<Fleet, 'hasOffer' | 'offered' | 'hear'>;
  /** Purges the caches of this process. */
  readonly purge: (tenantId?: string) => Promise<void>;
}

/** Handles requests of other replicas. */
export class PeerRoutes {
  readonly #settings: PeerRoutesSettings;
  #receiving = 0;
  #offering = 0;

  constructor(settings: PeerRoutesSettings) {
    this.#settings = settings;
  }

  /** The handlers by route. */
  get handlers() {
    const gated =
      (handler: (call: HttpCall) => Answer | Promise<Answer>): RouteHandler =>
      async (call) => {
        this.#settings.gate(call.caller);
        return handler(call);
      };
    return {
      peer_get: gated((call) => this.#get(call)),
      peer_set: gated((call) => this.#set(call)),
      peer_has: gated((call) => this.#has(call)),
      peer_hot: gated((call) => this.#hot(call)),
      peer_peers: gated(() => this.#peers()),
      peer_purge: gated((call) => this.#purge(call)),
    };
  }

  async #get(call: HttpCall): Promise<Answer> {
    const key = keyOf(call);
    if (this.#settings.fleet.hasOffer(key)) return this.#offered(call, key);
    const hit = await this.#settings.tier.front?.find(key);
    if (hit !== undefined && call.params.get('ahead')?.[0] !== '1') this.#settings.tier.hot.used(key);
    const usable = hit !== undefined && hit.leftMs >= minUsableMs ? hit : await this.#inMaking(call, key);
    if (usable !== undefined)
      return this.#value(call, usable, await framed(key, usable, this.#settings.house.token));
    // Replicas would reject a value without a frame.
    const { foreign } = this.#settings.tier;
    const value = call.params.get('framed')?.[0] === '1' ? undefined : foreign.get(key);
    const leftMs = foreign.leftMs(key);
    return value !== undefined && leftMs >= minUsableMs
      ? this.#value(call, { leftMs }, value)
      : this.#nothing(call, key);
  }

  /** The snapshot offered under this name. */
  async #offered(call: HttpCall, key: string): Promise<Answer> {
    const isBusy = this.#offering >= maxOffering;
    this.#offering += 1;
    try {
      const packed = isBusy ? undefined : await this.#settings.fleet.offered(key);
      if (packed === undefined) return this.#empty(404);
      const told = { packed, leftMs: usualTtlMs, ageMs: 0 };
      return await this.#value(call, told, await framed(key, told, this.#settings.house.token));
    } finally {
      this.#offering -= 1;
    }
  }

  /** The value in the making, if the caller wants to wait for it. */
  async #inMaking({ params, signal }: HttpCall, key: string): Promise<AnswerHit | undefined> {
    const { tier, house } = this.#settings;
    const waitMs = Number(params.get('wait_ms')?.[0] ?? 0);
    if (!(waitMs > 0)) return undefined;
    const hit = await tier.making.wait(key, Math.min(waitMs, house.timeoutMs), signal);
    return hit !== undefined && hit.leftMs >= minUsableMs ? hit : undefined;
  }

  /** The answer for a missing value. It tells whether the value is being made, and asks the caller to make it if it is not. */
  #nothing({ params }: HttpCall, key: string): Answer {
    const { making } = this.#settings.tier;
    const makes = params.get('make')?.[0] === '1' && making.begin(key);
    const state = makes ? 'make' : making.has(key) ? 'wait' : 'none';
    return this.#empty(404, [[makingHeader, state]]);
  }

  async #value(
    { caller }: HttpCall,
    { leftMs }: { readonly leftMs: number },
    plain: Buffer,
  ): Promise<Answer> {
    const { encodings } = this.#settings.house;
    const encoding =
      plain.byteLength < leastCompressed
        ? undefined
        : encodings.bestOf(caller.headers.get('accept-encoding') ?? '');
    const headers = this.#headers([
      ['X-Cache-TTL-Ms', String(Math.floor(leftMs))],
      // The edge does not compress bodies that have an encoding.
      ['Content-Encoding', encoding ?? 'identity'],
    ]);
    const body = encoding === undefined ? plain : await encodings.compress(encoding, plain);
    return finishedAnswer(200, body, bytesType, headers);
  }

  async #set(call: HttpCall): Promise<Answer> {
    const key = keyOf(call);
    if (call.params.get('given_up')?.[0] === '1') {
      this.#settings.tier.making.end(key);
      return this.#empty(204);
    }
    if (this.#receiving >= maxReceiving) throw apiError('peerBusy', { limit: maxReceiving });
    this.#receiving += 1;
    try {
      const { house } = this.#settings;
      const startedMs = house.clock.monotonicMs();
      const asked = Number(call.params.get('ttl_ms')?.[0]);
      const ttlMs = asked > 0 ? asked : usualTtlMs;
      const hit = await this.#received(call, key, ttlMs);
      if (hit === undefined) return this.#empty(204);
      const leftMs = Math.min(hit.leftMs, ttlMs);
      const tookMs = house.clock.monotonicMs() - startedMs;
      const taken = { ...hit, ageMs: hit.ageMs + tookMs, leftMs: leftMs - tookMs };
      const isTaken = this.#settings.tier.front?.put(key, taken, true) === true;
      this.#settings.tier.making.end(key, isTaken ? taken : undefined);
      house.meters.peer_cache_received_total.add(1, {});
      return this.#empty(204);
    } finally {
      this.#receiving -= 1;
    }
  }

  /** Undefined for a value without a replica's frame. */
  async #received(call: HttpCall, key: string, ttlMs: number): Promise<AnswerHit | undefined> {
    const { tier, house } = this.#settings;
    const { encodings, token, log } = house;
    let body: Buffer;
    try {
      body = await call.readBody(largestSet);
    } catch {
      throw refused('read body failed');
    }
    if (body.byteLength === 0) throw refused('empty value');
    let plain: Buffer;
    try {
      plain = await encodings.decompress(call.caller.headers.get('content-encoding'), body, largestSet);
    } catch {
      throw refused('decode body failed');
    }
    const value = await unframed(key, plain, token);
    if (typeof value !== 'string') return value;
    if (value === 'foreign') {
      tier.foreign.set(key, plain, plain.byteLength, Math.min(ttlMs, maxForeignMs));
      return undefined;
    }
    log.warn('dropped an invalid value pushed by a peer', {
      'peer.address': call.caller.address,
      reason: value,
    });
    throw refused('decode body failed');
  }

  #has({ params }: HttpCall): Answer {
    const { foreign } = this.#settings.tier;
    const keys = (params.get('keys')?.[0] ?? '').split(',').filter((key) => key !== '');
    if (keys.length === 0) throw refused('missing keys');
    if (keys.length > maxKeys) throw refused(`too many keys (max ${maxKeys})`);
    return jsonAnswer(
      Object.fromEntries(
        keys.map((text) => {
          const key = decoded(text);
          const leftMs = this.#settings.tier.front?.peek(key)?.leftMs ?? foreign.leftMs(key);
          return [key, leftMs > minUsableMs ? { ok: true, ttl_ms: Math.floor(leftMs) } : { ok: false }];
        }),
      ),
      jsonType,
    );
  }

  async #hot({ params }: HttpCall): Promise<Answer> {
    const { tier, options, members } = this.#settings;
    const asked = Number(params.get('limit')?.[0]);
    const limit = Math.min(asked >= 1 ? Math.floor(asked) : options.peerHotReadAheadTopN, maxHot);
    const keys = await tier.hot.top(limit, (key) => {
      const kept = this.#settings.tier.front?.peek(key);
      return (
        kept !== undefined &&
        kept.leftMs >= options.peerHotReadAheadMinTtl &&
        kept.bytes <= options.peerHotReadAheadMaxObjectBytes &&
        members.placeOf(key).home === undefined
      );
    });
    const entries = keys.flatMap(({ key, score }) => {
      const kept = this.#settings.tier.front?.peek(key);
      if (kept === undefined) return [];
      const { leftMs, bytes } = kept;
      return [
        {
          key,
          tenant: decoded(tenantOf(key)),
          score,
          size_bytes: bytes,
          remaining_ttl_ms: Math.floor(leftMs),
        },
      ];
    });
    return jsonAnswer(hotIndexOf(members.self.text, entries), jsonType);
  }

  #peers(): Answer {
    const { members } = this.#settings;
    const peers = members.peers.map(({ address }) => address.text).sort();
    return jsonAnswer({ count: peers.length, peers, self: members.self.text }, jsonType);
  }

  async #purge({ params }: HttpCall): Promise<Answer> {
    const tenant = params.get('tenant')?.[0];
    // An empty name is not a tenant, and must not stand for all of them.
    if (tenant === '') throw apiError('emptyFlushTenant', {});
    const news = params.get('deletion')?.[0];
    if (news !== undefined) await this.#settings.fleet.hear(news);
    await this.#settings.purge(tenant);
    this.#settings.house.log.info('caches flushed for a peer', { 'tenant.id': tenant });
    return jsonAnswer(
      { status: 'ok', message: 'peer cache purged (L0 hot index + L1 memory + L2 disk)' },
      jsonType,
    );
  }

  #empty(status: number, headers?: Iterable<readonly [string, string]>): Answer {
    return finishedAnswer(status, Buffer.alloc(0), '', this.#headers(headers));
  }

  #headers(more: Iterable<readonly [string, string]> = []): ReadonlyMap<string, string> {
    return new Map([['X-Peer-Set-Encoding', this.#settings.house.encodings.preferred], ...more]);
  }
}

function keyOf({ params }: HttpCall): string {
  const key = params.get('key')?.[0] ?? '';
  if (key === '') throw refused('missing key');
  return key;
}

/** Keys contain commas, so they are encoded in a list of keys. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refused(text: string): Error {
  return apiError('peerRefused', { text });
}
