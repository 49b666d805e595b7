/** The view that one process has of all processes that serve together (`-workers`). A single process is a group of one. */
import type { Clock } from '../base/clock.js';
import { Budget } from './budget.js';
import { AllLeases, type Leases } from './leases.js';
import type { Channel, Topic } from './channel.js';
import { joinTopic, notRunning, othersTopic, type BudgetTerms, type Missing } from './topics.js';

export interface Workers {
  /** Number of the worker, from 1. The replacement of a worker that died has the same number. */
  readonly id: number;
  /** Configured number of workers. */
  readonly count: number;
  /** Sockets through which workers share caches; undefined where they do not. */
  readonly sockets: WorkerSockets | undefined;
  /** Registers the handler of a topic. */
  answer<Asked, Answered>(topic: Topic<Asked, Answered>, answer: Answer<Asked, Answered>): void;
  /** Sends a request to all workers, including this one, which answers first. Workers that do not answer in time are left out. */
  gather<Asked, Answered>(
    topic: Topic<Asked, Answered>,
    asked: Asked,
    how?: GatherBounds,
  ): Promise<Gathered<Answered>>;
  /** A rate limit shared by all workers. */
  tokens(terms: BudgetTerms): Tokens;
  /** A number of permits shared by all workers. `inUse` returns the number in use here; `onMore` is called when it may grow. */
  permits(terms: PermitShareTerms): PermitShares;
}

export interface WorkerSockets {
  /** Paths by worker, starting with worker 1. */
  readonly paths: readonly string[];
  /** Secret that clients of the sockets send. */
  readonly token: string;
}

export type Answer<Asked, Answered> = (asked: Asked) => Answered | Promise<Answered>;

export interface GatherBounds {
  /** Timeout for the other workers, in milliseconds; 10 s unless given. */
  readonly boundMs?: number;
  /** True if a worker that was not there must be told, when it joins, that it missed this (`Joined.missed`). */
  readonly isOwed?: boolean;
}

export interface Gathered<Answered> {
  /** Answers in the order of workers. */
  readonly answers: readonly { readonly worker: number; readonly answer: Answered }[];
  readonly missing: readonly Missing[];
}

export interface Tokens {
  /** Takes a unit held by this process; false if there is none. */
  takeNow(key: string): boolean;
  /** Takes a unit; if this process holds none, it asks the first process for more, which takes a second at most. */
  take(key: string): boolean | Promise<boolean>;
  /** Ends the use of the budget. */
  release(): void;
}

export interface PermitShareTerms {
  readonly name: string;
  readonly size: number;
  readonly inUse: () => number;
  readonly onMore: () => void;
}

export interface PermitShares {
  /** Number of permits held by this process. */
  readonly held: number;
  /** Number of permits that may be in use here; temporarily below `held` when other workers wait. */
  readonly most: number;
  /** Asks for more; undefined while that is pointless. Resolves within a second, whatever the outcome. */
  more(): Promise<void> | undefined;
  /** Called when the number in use has changed. */
  changed(): void;
  /** Ends the use of the budget; no permit is in use any more. */
  release(): void;
}

const nothing = (): undefined => undefined;
const gatherMs = 10_000;
const budgetKey = '';

/** A group of one process. */
export function alone(clock: Pick<Clock, 'monotonicMs'>): Workers {
  const handlers = new Map<string, Answer<never, unknown>>();
  return {
    id: 1,
    count: 1,
    sockets: undefined,
    answer: (topic, answer) => void handlers.set(topic.name, answer),
    gather: async (topic, asked) => ownAnswer(handlers, topic, asked, 1),
    tokens: ({ size, perSecond }) => {
      const budget = new Budget({ size, perSecond, clock });
      const take = (key: string): boolean => budget.take(key);
      return { take, takeNow: take, release: nothing };
    },
    permits: ({ size }) => ({ held: size, most: size, more: nothing, changed: nothing, release: nothing }),
  };
}

async function ownAnswer<Asked, Answered>(
  handlers: ReadonlyMap<string, Answer<never, unknown>>,
  { name }: Topic<Asked, Answered>,
  asked: Asked,
  worker: number,
): Promise<Gathered<Answered>> {
  // The topic implies the types of its handler.
  const answer = handlers.get(name) as Answer<Asked, Answered> | undefined;
  return { answers: answer === undefined ? [] : [{ worker, answer: await answer(asked) }], missing: [] };
}

export interface JoinedSettings {
  readonly id: number;
  readonly count: number;
  readonly sockets?: WorkerSockets | undefined;
  /** The channel to the first process. */
  readonly channel: Channel;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** One of several workers. */
export class Joined implements Workers {
  readonly id: number;
  readonly count: number;
  readonly sockets: WorkerSockets | undefined;
  readonly #channel: Channel;
  readonly #leases: AllLeases;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #handlers = new Map<string, Answer<never, unknown>>();
  /** Called with the running workers that did not answer. */
  onMissing: (topic: string, missing: readonly Missing[]) => void = () => undefined;

  constructor({ id, count, sockets, channel, clock }: JoinedSettings) {
    this.sockets = sockets;
    this.id = id;
    this.count = count;
    this.#channel = channel;
    this.#clock = clock;
    this.#leases = new AllLeases(channel, clock);
  }

  /** Registers for requests of the other workers. Returns the topics whose messages were missed before. */
  join(): Promise<readonly string[]> {
    return this.#channel.ask(joinTopic, null, gatherMs);
  }

  /** Sends a request to the first process. */
  askFirst<Asked, Answered>(
    topic: Topic<Asked, Answered>,
    asked: Asked,
    boundMs = 2 * gatherMs,
  ): Promise<Answered> {
    return this.#channel.ask(topic, asked, boundMs);
  }

  answer<Asked, Answered>(topic: Topic<Asked, Answered>, answer: Answer<Asked, Answered>): void {
    this.#handlers.set(topic.name, answer);
    this.#channel.answer(topic, answer);
  }

  async gather<Asked, Answered>(
    topic: Topic<Asked, Answered>,
    asked: Asked,
    { boundMs = gatherMs, isOwed = false }: GatherBounds = {},
  ): Promise<Gathered<Answered>> {
    const [own, others] = await Promise.all([
      ownAnswer(this.#handlers, topic, asked, this.id),
      this.#channel.ask(othersTopic, { topic: topic.name, asked, boundMs, isOwed }, 2 * boundMs),
    ]);
    const { missing } = others;
    const silent = missing.filter(({ reason }) => reason !== notRunning);
    if (silent.length > 0) this.onMissing(topic.name, silent);
    // The first process passes on the answers of other workers to the same topic.
    const answers = [...own.answers, ...(others.answers as Gathered<Answered>['answers'])];
    return { answers: answers.sort((a, b) => a.worker - b.worker), missing };
  }

  tokens(terms: BudgetTerms): Tokens {
    const leases = this.#leases.of(terms);
    const takeNow = (key: string): boolean => {
      const lease = leases.of(key);
      const hasTaken = lease.takeNow();
      if (hasTaken && lease.needsRefill) void leases.refill(key, lease);
      return hasTaken;
    };
    const release = (): void => this.#leases.leave(terms.name);
    return { takeNow, take: (key) => takeNow(key) || this.#takeSoon(leases, key), release };
  }

  permits({ name, size, inUse, onMore }: PermitShareTerms): PermitShares {
    const leases = this.#leases.of({ name, size, perSecond: 0 });
    const lease = leases.pin(budgetKey, inUse, onMore);
    const clock = this.#clock;
    return {
      get held() {
        return lease.held;
      },
      get most() {
        return lease.mostNow(clock.monotonicMs());
      },
      more: () => leases.more(budgetKey, lease),
      changed: () => {
        if (lease.free * 2 <= lease.held) lease.isUsed = true;
        leases.giveExcess(budgetKey, lease);
      },
      release: () => {
        leases.unpin(budgetKey, lease);
        this.#leases.leave(name);
      },
    };
  }

  #takeSoon(leases: Leases, key: string): boolean | Promise<boolean> {
    const more = leases.more(key, leases.of(key));
    if (more === undefined) return false;
    const untilMs = this.#clock.monotonicMs() + takeSoonMs;
    const again = async (asked: Promise<void> | undefined): Promise<boolean> => {
      if (asked === undefined) return false;
      await asked;
      const lease = leases.of(key);
      if (lease.takeNow()) return true;
      return this.#clock.monotonicMs() < untilMs && again(leases.more(key, lease));
    };
    return again(more);
  }
}

/** A request that got nothing, because others were faster, asks again until this time has passed. */
const takeSoonMs = 1_000;
