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
  type LendAnswered,
  type LendAsked,
} from './topics.js';

export interface LendingOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** How many workers there are to be. */
  readonly workers: number;
  /** The channels to those that are there. */
  readonly channels: ReadonlyMap<number, Channel>;
}

/** How long a worker may take to give back what it does not use: it takes less than a millisecond where its event loop is not busy. */
const recallMs = 100;
/** Until then one that found no place is given the first that comes back. */
const wantsForMs = 1_000;
/** When nothing was lent: what is asked for again before costs more than it finds. */
const retryPlacesMs = 5;
const retryUnansweredMs = 50;
const maxWaitMs = 60_000;

/** Lends from the budgets that all workers have together; runs in the first process. */
export class Lending {
  readonly #options: LendingOptions;
  readonly #budgets = new Map<string, Book>();

  constructor(options: LendingOptions) {
    this.#options = options;
  }

  /** Answers a worker's questions. */
  serve(channel: Channel, worker: number): void {
    channel.answer(lendTopic, (asked) => this.#lend(worker, asked));
    channel.answer(settleTopic, ({ terms, settled }) => {
      const book = this.#bookOf(terms);
      for (const { key, spent, back } of settled) {
        book.budget.settle(key, worker, spent, back);
        this.#serveWanting(book, key);
      }
      return null;
    });
  }

  /** A worker is gone. */
  forget(worker: number): void {
    for (const book of this.#budgets.values()) {
      for (const wanting of book.wanting.values()) wanting.delete(worker);
      for (const key of book.budget.forget(worker)) this.#serveWanting(book, key);
    }
  }

  async #lend(worker: number, { terms, key, spent, back, wants }: LendAsked): Promise<LendAnswered> {
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
    this.#want(book, key, worker);
    return { lent: 0, waitMs: retryPlacesMs };
  }

  /** Asks the others for what they do not use; whether all have answered. One time for all who want some of it meanwhile. */
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

  /** Whether the worker has answered; before it does, it settles. */
  async #recallFrom({ terms }: Book, key: string, other: number, wants: number): Promise<boolean> {
    try {
      const channel = this.#options.channels.get(other);
      await channel?.ask(recallTopic, { budget: terms.name, key, wants }, recallMs);
      return channel !== undefined;
    } catch {
      return false;
    }
  }

  /** Nothing is free: who holds more than its share gives up what it holds beyond it, as its requests end. */
  #want({ terms, budget, wanting }: Book, key: string, worker: number): void {
    const { clock, channels, workers } = this.#options;
    const share = Math.floor(terms.size / workers);
    const lent = budget.lentBy(key);
    if ((lent.get(worker) ?? 0) >= Math.max(1, share)) return;
    const those = wanting.get(key) ?? new Map<number, number>();
    wanting.set(key, those.set(worker, clock.monotonicMs() + wantsForMs));
    for (const [other, held] of lent)
      if (other !== worker && held > share)
        channels.get(other)?.tell(yieldTopic, { budget: terms.name, key, most: share });
  }

  /** Gives what has come back to those that wanted it in vain. */
  #serveWanting({ terms, budget, wanting }: Book, key: string): void {
    const those = wanting.get(key);
    if (those === undefined) return;
    const { clock, channels, workers } = this.#options;
    const share = Math.max(1, Math.floor(terms.size / workers));
    for (const [worker, untilMs] of those) {
      const channel = channels.get(worker);
      const misses = share - (budget.lentBy(key).get(worker) ?? 0);
      const isOver = channel === undefined || misses < 1 || untilMs < clock.monotonicMs();
      const lent = isOver ? 0 : budget.lend(key, worker, 1, workers);
      if (lent > 0) channel?.tell(lateTopic, { budget: terms.name, key, lent });
      if (isOver) those.delete(worker);
    }
    if (those.size === 0) wanting.delete(key);
  }

  #bookOf(terms: BudgetTerms): Book {
    let book = this.#budgets.get(terms.name);
    if (book === undefined) {
      const { clock } = this.#options;
      const { size, perSecond } = terms;
      book = {
        terms,
        budget: new Budget({ size, perSecond, clock }),
        recalls: new Map(),
        wanting: new Map(),
      };
      this.#budgets.set(terms.name, book);
    }
    return book;
  }
}

/** A budget, and what is going on about its accounts. */
interface Book {
  readonly terms: BudgetTerms;
  readonly budget: Budget;
  readonly recalls: Map<string, Promise<boolean>>;
  /** By account: workers that wanted something in vain, and until when they do. */
  readonly wanting: Map<string, Map<number, number>>;
}
