import type { Meters } from '../../../core/plugin/index.js';
import { type Address, type PeerClient, PeerFailure, type PeerReply, type PeerRequest } from './client.js';
import { type Encodings, leastCompressed } from '../../../core/base/encoding.js';
import type { peerMetrics } from './metrics.js';
import type { Clock } from '../../../core/base/clock.js';
import type { Logger } from '../../../core/base/logger.js';
import type { AnswerHit } from '../../../core/cache/answer-tier.js';
import { framed, unframed } from '../../../core/cache/frame.js';
import { CircuitBreaker, failuresInARow } from '../../../core/base/admission/circuit-breaker.js';
import { AdaptiveTimeout } from '../../../core/base/pace/adaptive-timeout.js';
import { hotEntriesOf, type HotEntry, largestHot } from './hot-index.js';

/** Dependencies and settings shared by all peers of a process. */
export interface PeerHouse {
  readonly client: PeerClient;
  readonly encodings: Encodings;
  readonly token: string;
  readonly timeoutMs: number;
  /** Maximum time in milliseconds that a request waits for a peer. */
  readonly patienceMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
  readonly meters: Meters<typeof peerMetrics>;
}

/** Maximum size of an answer, as sent and decoded. */
const largestAnswer = 32 * 1024 * 1024;
/** Maximum size of a value that a peer accepts, before and after decoding. */
export const largestSet = 8 * 1024 * 1024;
/** Maximum number of calls to one peer in flight; further ones are not sent. */
const maxCalls = 64;
/** Minimum time between two log records about one peer. */
const logEveryMs = 60_000;
const purgeTimeoutMs = 5_000;

export const makingHeader = 'X-Peer-Making';

/** Options of a request for a value. */
export interface GetOptions {
  /** Called when the headers of the answer arrive. */
  readonly began?: () => void;
  /** True if this process will make the value, and push it to the peer, if no other does. */
  readonly makes?: boolean;
  /** Milliseconds that the peer may wait for the value if another replica is making it. */
  readonly waitMs?: number;
  /** True for a prefetch: it counts neither as a use of the key nor towards the peer's usual response time. */
  readonly isAhead?: boolean;
  /** Timeout in milliseconds; the usual one unless given. */
  readonly timeoutMs?: number;
}

export interface LookupReply {
  readonly hit?: AnswerHit;
  /** `make`: this process is to make the value; `wait`: another one is making it. */
  readonly state: 'make' | 'wait' | 'none';
}

/** Another replica. Calls never throw: failures are counted, logged now and then, and open the breaker. */
export class Peer {
  readonly address: Address;
  readonly timeout: AdaptiveTimeout;
  readonly #house: PeerHouse;
  readonly #breaker: CircuitBreaker;
  /** The encoding for values sent to the peer. Encodings other than gzip become known from its answers. */
  #setEncoding = 'gzip';
  #calls = 0;
  #logAtMs = -Infinity;

  constructor(address: Address, house: PeerHouse) {
    this.address = address;
    this.#house = house;
    const { patienceMs, clock } = house;
    this.timeout = new AdaptiveTimeout({ leastMs: patienceMs / 10, mostMs: patienceMs });
    this.#breaker = new CircuitBreaker(failuresInARow, clock);
  }

  /** Tells whether the breaker admits calls. */
  get isUp(): boolean {
    return this.#breaker.state !== 'open';
  }

  /** Fetches a value; undefined if the call fails. */
  async get(
    key: string,
    { began, makes, waitMs, isAhead, timeoutMs }: GetOptions = {},
  ): Promise<LookupReply | undefined> {
    const sentMs = this.#house.clock.monotonicMs();
    return this.#guarded(async () => {
      const more = `${makes === true ? '&make=1' : ''}${isAhead === true ? '&ahead=1' : ''}${waitMs === undefined ? '' : `&wait_ms=${Math.ceil(waitMs)}`}`;
      const reply = await this.#send({
        method: 'GET',
        path: `/_cache/get?key=${encodeURIComponent(key)}&framed=1${more}`,
        headers: this.#isNear ? {} : { 'accept-encoding': this.#house.encodings.names },
        ...(began === undefined ? {} : { began }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      if (waitMs === undefined && isAhead !== true)
        this.timeout.answered(this.#house.clock.monotonicMs() - sentMs);
      if (reply.status === 404) return { state: stateOf(reply) };
      if (reply.status !== 200) throw new PeerFailure(`status_${reply.status}`, 'it refused to answer');
      const { packed, leftMs, ageMs } = await this.#valueOf(key, reply);
      // The duration of the call is added to the age, and subtracted from the remaining TTL.
      const tookMs = this.#house.clock.monotonicMs() - sentMs;
      return { state: 'none', hit: { packed, leftMs: leftMs - tookMs, ageMs: ageMs + tookMs } };
    });
  }

  /** Notifies the peer that the value it waits for will not come. */
  async giveUp(key: string): Promise<void> {
    await this.#guarded(() =>
      this.#send({
        method: 'POST',
        path: `/_cache/set?key=${encodeURIComponent(key)}&given_up=1`,
        headers: {},
      }),
    );
  }

  /** The remaining TTL of a value in milliseconds; undefined if the peer lacks it, and if the call fails. */
  async leftOf(key: string): Promise<number | undefined> {
    // Encoded twice: as a key in a list, and as a parameter.
    const keys = encodeURIComponent(encodeURIComponent(key));
    return this.#guarded(async () => leftIn(await this.#json(`/_cache/has?keys=${keys}`), key));
  }

  /** The peer's most used keys among those it owns, at most `limit`; undefined if the call fails. */
  async hot(limit: number): Promise<readonly HotEntry[] | undefined> {
    const path = `/_cache/hot?limit=${limit}`;
    return this.#guarded(async () => hotEntriesOf(await this.#json(path, largestHot)));
  }

  /** Pushes a value to the peer; false if it was not accepted. */
  async set(key: string, hit: AnswerHit): Promise<boolean> {
    const done = await this.#guarded(async () => {
      const { encodings, token } = this.#house;
      const plain = await framed(key, hit, token);
      const encoding = plain.byteLength < leastCompressed || this.#isNear ? undefined : this.#setEncoding;
      let body = plain;
      try {
        if (encoding !== undefined) body = await encodings.compress(encoding, plain);
      } catch (error) {
        throw new PeerFailure('encode', 'cannot compress a value', error);
      }
      const reply = await this.#send({
        method: 'POST',
        path: `/_cache/set?key=${encodeURIComponent(key)}&ttl_ms=${Math.floor(hit.leftMs)}`,
        headers: {
          'content-type': 'application/octet-stream',
          ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
        },
        body,
      });
      if (reply.status !== 204) throw new PeerFailure(`status_${reply.status}`, 'it refused a value');
      return true;
    });
    return done === true;
  }

  /**
   * Purges the caches of the peer, and passes on news of a deletion.
   * @returns `purged` or `error: ...`
   */
  async purge(tenantId?: string, news?: string): Promise<string> {
    try {
      const parameters = new URLSearchParams({
        ...(tenantId === undefined ? {} : { tenant: tenantId }),
        ...(news === undefined ? {} : { deletion: news }),
      }).toString();
      const { status } = await this.#send({
        method: 'POST',
        path: `/_cache/purge${parameters === '' ? '' : `?${parameters}`}`,
        headers: {},
        timeoutMs: purgeTimeoutMs,
      });
      return status === 200 ? 'purged' : `error: status ${status}`;
    } catch (error) {
      return `error: ${error instanceof Error ? error.message : 'unknown'}`;
    }
  }

  /** True for a worker on the same machine: compression would not pay off. */
  get #isNear(): boolean {
    return this.address.host === undefined;
  }

  async #valueOf(key: string, { headers, body }: PeerReply): Promise<AnswerHit> {
    const { encodings, token } = this.#house;
    let plain: Buffer;
    try {
      plain = await encodings.decompress(textOf(headers['content-encoding']), body, largestAnswer);
    } catch (error) {
      throw new PeerFailure('decode', 'cannot decode its answer', error);
    }
    const value = await unframed(key, plain, token);
    if (typeof value === 'string')
      throw new PeerFailure('damaged', `its answer is not a value for this key (${value})`);
    return value;
  }

  async #json(path: string, largest = largestAnswer): Promise<unknown> {
    const { status, body } = await this.#send({ method: 'GET', path, headers: {}, largest });
    if (status !== 200) throw new PeerFailure(`status_${status}`, 'it refused to answer');
    try {
      return JSON.parse(body.toString('utf8'));
    } catch (error) {
      throw new PeerFailure('decode', 'its answer is not JSON', error);
    }
  }

  async #send(
    request: Omit<PeerRequest, 'timeoutMs' | 'largest'> & Partial<Pick<PeerRequest, 'timeoutMs' | 'largest'>>,
  ): Promise<PeerReply> {
    const { client, timeoutMs, encodings } = this.#house;
    const reply = await client.send(this.address, { timeoutMs, largest: largestAnswer, ...request });
    const taken = textOf(reply.headers['x-peer-set-encoding']);
    if (taken !== undefined) this.#setEncoding = encodings.bestOf(`${taken}, gzip`) ?? 'gzip';
    return reply;
  }

  /** Runs a call, unless the breaker is open. A failure is reported, and yields undefined. */
  async #guarded<Value>(call: () => Promise<Value>): Promise<Value | undefined> {
    const permit = this.#calls < maxCalls ? this.#breaker.tryAdmit() : undefined;
    if (permit === undefined) {
      this.#count(this.isUp ? 'busy' : 'breaker_open');
      return undefined;
    }
    this.#calls += 1;
    try {
      const value = await call();
      permit.succeed();
      return value;
    } catch (error) {
      // Calls aborted by the end of the process are no failures.
      if (this.#house.client.isClosed) return undefined;
      permit.fail();
      const reason = error instanceof PeerFailure ? error.reason : 'request_build';
      this.#tell(reason, error);
      this.#count(reason);
      return undefined;
    } finally {
      this.#calls -= 1;
    }
  }

  #count(reason: string): void {
    this.#house.meters.peer_cache_errors_total.add(1, {});
    this.#house.meters.peer_cache_failures_total.add(1, { reason });
  }

  #tell(reason: string, error: unknown): void {
    const nowMs = this.#house.clock.monotonicMs();
    if (nowMs < this.#logAtMs) return;
    this.#logAtMs = nowMs + logEveryMs;
    const text = reason === 'damaged' ? 'dropped an invalid answer from a peer' : 'a peer failed';
    this.#house.log.warn(text, {
      'peer.address': this.address.text,
      reason,
      'error.message': error instanceof Error ? error.message : String(error),
    });
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

/** Reads the answer about a key's presence; throws PeerFailure if it is invalid. */
function leftIn(presence: unknown, key: string): number | undefined {
  const shown: unknown = isObject(presence) ? presence[key] : undefined;
  if (!isObject(shown)) throw new PeerFailure('decode', 'its answer does not mention the key');
  return shown['ok'] === true && typeof shown['ttl_ms'] === 'number' ? shown['ttl_ms'] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function stateOf({ headers }: PeerReply): LookupReply['state'] {
  const state = textOf(headers[makingHeader.toLowerCase()]);
  return state === 'make' || state === 'wait' ? state : 'none';
}
