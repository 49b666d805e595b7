import { Pool } from 'undici';
import { Random } from '../watch/random.js';
import { choose, type Kind } from './mix.js';
import type { Sample } from './sample.js';

/** Who asks what. */
export interface Asking {
  readonly url: string;
  readonly tenant: string;
  readonly kinds: readonly Kind[];
  readonly endMs: number;
  readonly seed: number;
  /** Clients with addresses of their own, from 127.0.`net`.1 on. */
  readonly addresses: number;
  readonly net: number;
}

/** Sends requests of a mix from several addresses over kept connections. */
export class Clients {
  readonly #asking: Asking;
  /** Pools: an Agent of undici 7.30 opens a connection for every request once a server has closed one in good order. */
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

  /** Requests at their times whether answers come or not, at so many a second; times count from when a request was due. */
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
      // Arrivals of people who do not know of each other.
      dueMs += (-Math.log(1 - this.#random.next()) * 1000) / perSecond;
    }
    await Promise.all(pending);
  }

  /** So many at once, each with its next request as soon as it has its answer. */
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
