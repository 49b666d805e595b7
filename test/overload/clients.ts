import { Pool } from 'undici';
import { Random } from '../watch/random.js';
import { choose, type Kind } from './mix.js';
import type { Sample } from './sample.js';

/** The clients of a load and their requests. */
export interface Asking {
  readonly url: string;
  readonly tenant: string;
  readonly kinds: readonly Kind[];
  readonly endMs: number;
  readonly seed: number;
  /** Number of client addresses, starting at 127.0.`net`.1. */
  readonly addresses: number;
  readonly net: number;
}

/** Sends requests of a mix from several addresses over keep-alive connections. */
export class Clients {
  readonly #asking: Asking;
  /** Pools, because an Agent of undici 7.30 opens a connection for every request once a server has closed one cleanly. */
  readonly #pools: readonly Pool[];
  readonly #random: Random;
  #turn = 0;

  constructor(asking: Asking) {
    this.#asking = asking;
    this.#random = new Random(asking.seed);
    this.#pools = Array.from({ length: asking.addresses }, (_, index) => {
      const localAddress = `127.0.${asking.net}.${index + 1}`;
      return new Pool(asking.url, { connections: 64, pipelining: 1, connect: { localAddress } });
    });
  }

  /** Sends requests at a fixed rate without waiting for responses; latency counts from the scheduled time of a request. */
  async openLoop(perSecond: number, seconds: number, sample: Sample): Promise<void> {
    const endMs = performance.now() + seconds * 1000;
    const pending = new Set<Promise<void>>();
    let dueMs = performance.now();
    while (dueMs < endMs) {
      const nowMs = performance.now();
      if (dueMs > nowMs) await new Promise((resolve) => setTimeout(resolve, dueMs - nowMs));
      sample.sent(performance.now() - dueMs);
      const one = this.#send(dueMs, sample).finally(() => pending.delete(one));
      pending.add(one);
      // Poisson arrivals, as from independent users.
      dueMs += (-Math.log(1 - this.#random.next()) * 1000) / perSecond;
    }
    await Promise.all(pending);
  }

  /** Runs `workers` concurrent clients; each sends its next request as soon as it has a response. */
  async closedLoop(workers: number, seconds: number, sample: Sample): Promise<void> {
    const endMs = performance.now() + seconds * 1000;
    const work = async (): Promise<void> => {
      while (performance.now() < endMs) await this.#send(performance.now(), sample);
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }

  async #send(dueMs: number, sample: Sample): Promise<void> {
    const { tenant, kinds, endMs } = this.#asking;
    const pool = this.#pools[this.#turn++ % this.#pools.length];
    if (pool === undefined) throw new Error('clients need an address');
    const kind = choose(kinds, this.#random);
    const path = kind.path(this.#random, endMs);
    try {
      const { statusCode, body } = await pool.request({
        path,
        method: 'GET',
        headers: { 'x-scope-orgid': tenant },
      });
      await body.dump({ limit: 1 << 26 });
      sample.answered(statusCode, performance.now() - dueMs, kind.name);
    } catch {
      sample.answered(0, performance.now() - dueMs);
    }
  }
}
