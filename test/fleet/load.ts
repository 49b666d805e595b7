import { Pool } from 'undici';
import type { Answered } from '../../core/comparison/answers.js';
import type { GoldenCase } from '../conformance/cases.js';
import { compareAnswers } from '../conformance/compare.js';
import { send } from '../conformance/replay.js';
import { Random } from '../watch/random.js';
import type { Replica } from './fleet.js';

/** The timeout after which a balancer considers a replica gone. */
const patienceMs = 5_000;

/** The result of a period of load. */
export interface LoadReport {
  readonly asked: number;
  /** Requests that another replica answered because the first one went away. */
  readonly resent: number;
  /** Requests that no replica answered, or that failed with an error of a replica. */
  readonly failed: readonly string[];
  readonly wrong: readonly string[];
  /** Times of requests that the first replica answered. */
  readonly timesMs: readonly number[];
}

export interface LoadSettings {
  readonly seed: number;
  readonly loops: number;
  readonly seconds: number;
  /** The pause of each loop after a response. */
  readonly pauseMs: number;
}

/** Sends requests to the replicas as a load balancer does: round-robin, with a retry on another replica if the connection breaks. */
export class Balancer {
  readonly #replicas: readonly Replica[];
  readonly #pools = new Map<string, Pool>();
  #turn = 0;

  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
  }

  /** Sends to the replica with this number. */
  sendTo(number: number, request: GoldenCase['request']): Promise<Answered> {
    const replica = this.#replicas[number % this.#replicas.length];
    if (replica === undefined) throw new Error('a fleet has replicas');
    return send(this.#pool(replica.url), request);
  }

  async send(
    request: GoldenCase['request'],
  ): Promise<{ readonly answer: Answered; readonly attempts: number }> {
    let error: unknown;
    for (let attempts = 1; attempts <= this.#replicas.length; attempts += 1) {
      const serving = this.#replicas.filter(({ isInService }) => isInService);
      const replica = serving[(this.#turn += 1) % serving.length];
      if (replica === undefined) break;
      try {
        return { answer: await send(this.#pool(replica.url), request), attempts };
      } catch (broken) {
        error = broken;
      }
    }
    throw new Error('no replica answered', { cause: error });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #pool(url: string): Pool {
    const pool =
      this.#pools.get(url) ??
      new Pool(url, { connections: 64, headersTimeout: patienceMs, bodyTimeout: patienceMs });
    this.#pools.set(url, pool);
    return pool;
  }
}

/** Sends requests as users do, some far more often than others, and compares each answer with Loki's. */
export async function loadWith(
  balancer: Balancer,
  cases: readonly GoldenCase[],
  { seed, loops, seconds, pauseMs }: LoadSettings,
): Promise<LoadReport> {
  const failed: string[] = [];
  const wrong: string[] = [];
  const timesMs: number[] = [];
  let resent = 0;
  let asked = 0;
  const untilMs = performance.now() + seconds * 1_000;
  const loop = async (number: number): Promise<void> => {
    const random = Random.of(seed, number);
    while (performance.now() < untilMs) {
      const { request, golden } = popular(cases, random);
      const startMs = performance.now();
      asked += 1;
      try {
        const { answer, attempts } = await balancer.send(request);
        resent += attempts - 1;
        if (attempts === 1) timesMs.push(performance.now() - startMs);
        const difference = compareAnswers(request, golden, answer);
        if (answer.status >= 500 && golden.status < 500) failed.push(`${request.id}: ${answer.status}`);
        else if (difference !== undefined) wrong.push(`${request.id}: ${difference}`);
      } catch (error) {
        failed.push(`${request.id}: ${String(error)}`);
      }
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  await Promise.all(Array.from({ length: loops }, (_, number) => loop(number)));
  return { asked, resent, failed, wrong, timesMs };
}

/** Picks a case by Zipf's law with an exponent of about 1. */
function popular(cases: readonly GoldenCase[], random: Random): GoldenCase {
  const rank = Math.floor(cases.length ** random.next()) - 1;
  const found = cases[Math.min(rank, cases.length - 1)];
  if (found === undefined) throw new Error('there are no cases');
  return found;
}
