import { ofKey } from '../base/memory/byte-lru.js';
import type { Clock } from '../base/clock.js';
import { Budget } from './budget.js';
import type { Channel } from './channel.js';
import {
  lateTopic,
  lendTopic,
  recallTopic,
  settleTopic,
  yieldTopic,
  type BudgetTerms,
  type LendReply,
  type LendRequest,
} from './topics.js';

export interface LendingOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Configured number of workers. */
  readonly workers: number;
  /** Channels to the running workers. */
  readonly channels: ReadonlyMap<number, Channel>;
}

/** Timeout for a worker to give back unused units. It takes less than a millisecond unless its event loop is busy. */
const recallMs = 100;
/** Time during which a worker that got no permit is offered the next free one. */
const waiterMs = 1_000;
/** Pause after a refusal: asking again earlier costs more than it yields. */
const retryPermitsMs = 5;
const retryUnansweredMs = 50;
const maxWaitMs = 60_000;

/** Leases parts of the budgets that all workers share; runs in the first process. */
export class Lending {
  readonly #options: LendingOptions;
  readonly #budgets = new Map<string, Book>();

  constructor(options: LendingOptions) {
    this.#options = options;
  }

  /** Handles the requests of a worker. */
  serve(channel: Channel, worker: number): void {
    channel.answer(lendTopic, (asked) => this.#lend(worker, asked));
    channel.answer(settleTopic, ({ terms, settled }) => {
      const book = this.#bookOf(terms);
      for (const { key, spent, back } of settled) {
        book.budget.settle(key, worker, spent, back);
        this.#serveWaiters(book, key);
      }
      return null;
    });
  }

  /** Ends the leases of a worker that has died. */
  forget(worker: number): void {
    for (const book of this.#budgets.values()) {
      for (const waiters of book.waitersByKey.values()) waiters.delete(worker);
      for (const key of book.budget.forget(worker)) this.#serveWaiters(book, key);
    }
  }

  async #lend(worker: number, { terms, key, spent, back, wants }: LendRequest): Promise<LendReply> {
    const book = this.#bookOf(terms);
    const { budget } = book;
    budget.settle(key, worker, spent, back);
    const { workers } = this.#options;
    let lent = budget.lend(key, worker, wants, workers);
    if (lent > 0) return { lent, waitMs: 0 };
    const isComplete = await this.#recall(book, key, worker, wants);
    lent = budget.lend(key, worker, wants, workers);
    if (lent > 0) return { lent, waitMs: 0 };
    if (terms.perSecond > 0) {
      const longest = isComplete ? maxWaitMs : retryUnansweredMs;
      return { lent: 0, waitMs: Math.min(longest, budget.waitMs(key)) };
    }
    this.#addWaiter(book, key, worker);
    return { lent: 0, waitMs: retryPermitsMs };
  }

  /** Recalls unused units from the other workers; resolves to true if all of them have answered. Concurrent calls share one recall. */
  #recall(book: Book, key: string, worker: number, wants: number): Promise<boolean> {
    const running = book.recalls.get(key);
    if (running !== undefined) return running;
    const others = [...book.budget.lentBy(key).keys()].filter((other) => other !== worker);
    if (others.length === 0) return Promise.resolve(true);
    const recall = Promise.all(others.map((other) => this.#recallFrom(book, key, other, wants)))
      .then((answered) => answered.every(Boolean))
      .finally(() => book.recalls.delete(key));
    book.recalls.set(key, recall);
    return recall;
  }

  /** Recalls from one worker, which settles before it answers; resolves to true if it answered. */
  async #recallFrom({ terms }: Book, key: string, other: number, wants: number): Promise<boolean> {
    try {
      const channel = this.#options.channels.get(other);
      await channel?.ask(recallTopic, { budget: terms.name, key, wants }, recallMs);
      return channel !== undefined;
    } catch {
      return false;
    }
  }

  /** Queues a worker that got nothing. Workers that hold more than their share are told to give up the excess as their requests end. */
  #addWaiter({ terms, budget, waitersByKey }: Book, key: string, worker: number): void {
    const { clock, channels, workers } = this.#options;
    const share = Math.floor(terms.size / workers);
    const lent = budget.lentBy(key);
    if ((lent.get(worker) ?? 0) >= Math.max(1, share)) return;
    const waiters = waitersByKey.get(key) ?? new Map<number, number>();
    waitersByKey.set(key, waiters.set(worker, clock.monotonicMs() + waiterMs));
    for (const [other, held] of lent)
      if (other !== worker && held > share)
        channels.get(other)?.tell(yieldTopic, { budget: terms.name, key, most: share });
  }

  /** Leases units that have become free to queued workers. */
  #serveWaiters({ terms, budget, waitersByKey }: Book, key: string): void {
    const waiters = waitersByKey.get(key);
    if (waiters === undefined) return;
    const { clock, channels, workers } = this.#options;
    const share = Math.max(1, Math.floor(terms.size / workers));
    for (const [worker, untilMs] of waiters) {
      const channel = channels.get(worker);
      const missing = share - (budget.lentBy(key).get(worker) ?? 0);
      const isOver = channel === undefined || missing < 1 || untilMs < clock.monotonicMs();
      const lent = isOver ? 0 : budget.lend(key, worker, 1, workers);
      if (lent > 0) channel?.tell(lateTopic, { budget: terms.name, key, lent });
      if (isOver) waiters.delete(worker);
    }
    if (waiters.size === 0) waitersByKey.delete(key);
  }

  #bookOf(terms: BudgetTerms): Book {
    const { clock } = this.#options;
    const { name, size, perSecond } = terms;
    return ofKey(this.#budgets, name, () => ({
      terms,
      budget: new Budget({ size, perSecond, clock }),
      recalls: new Map(),
      waitersByKey: new Map(),
    }));
  }
}

/** A budget with its running recalls and queued workers. */
interface Book {
  readonly terms: BudgetTerms;
  readonly budget: Budget;
  readonly recalls: Map<string, Promise<boolean>>;
  /** Queued workers by account, each with the time at which it leaves the queue. */
  readonly waitersByKey: Map<string, Map<number, number>>;
}
