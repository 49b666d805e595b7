import type { Clock } from '../base/clock.js';
import { Channel, type Send } from './channel.js';
import { Lending } from './lending.js';
import {
  joinTopic,
  notRunning,
  othersTopic,
  type Missing,
  type OthersReply,
  type OthersRequest,
} from './topics.js';

export interface HubOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly workers: number;
}

/** The hub of the workers, in the first process: passes requests of one worker on to all others, and leases parts of the shared budgets. */
export class Hub {
  readonly #workers: number;
  /** Channels to the workers that have joined. */
  readonly #channels = new Map<number, Channel>();
  /** Topics whose messages a worker missed while it was not connected, by worker. */
  readonly #missed = new Map<number, Set<string>>();
  readonly #lending: Lending;

  constructor({ clock, workers }: HubOptions) {
    this.#workers = workers;
    this.#lending = new Lending({ clock, workers, channels: this.#channels });
  }

  /** Makes the channel to a worker whose process has started. The worker joins through it once it can answer. */
  connect(worker: number, send: Send): Channel {
    const channel = new Channel(send);
    channel.answer(joinTopic, () => {
      this.#channels.set(worker, channel);
      const missed = [...(this.#missed.get(worker) ?? [])];
      this.#missed.delete(worker);
      return missed;
    });
    channel.answer(othersTopic, (asked) => this.gather(asked, worker));
    this.#lending.serve(channel, worker);
    return channel;
  }

  /** Forgets a worker whose process has ended. */
  disconnect(worker: number, channel: Channel): void {
    if (this.#channels.get(worker) === channel) this.#channels.delete(worker);
    channel.close();
    this.#lending.forget(worker);
  }

  /** Sends a request to all workers except the asker. */
  async gather({ topic, asked, boundMs, isOwed }: OthersRequest, asker?: number): Promise<OthersReply> {
    const answers: { worker: number; answer: unknown }[] = [];
    const missing: Missing[] = [];
    const others = Array.from({ length: this.#workers }, (_, index) => index + 1);
    await Promise.all(
      others.map(async (worker) => {
        if (worker === asker) return;
        try {
          const channel = this.#channels.get(worker);
          if (channel === undefined) throw new Error(notRunning);
          const answer = await channel.ask<unknown, unknown>({ name: topic }, asked, boundMs);
          answers.push({ worker, answer });
        } catch (error) {
          missing.push({ worker, reason: error instanceof Error ? error.message : 'failed' });
          if (isOwed) this.#owe(worker, topic);
        }
      }),
    );
    return { answers, missing };
  }

  #owe(worker: number, topic: string): void {
    const missed = this.#missed.get(worker) ?? new Set<string>();
    this.#missed.set(worker, missed.add(topic));
  }
}
