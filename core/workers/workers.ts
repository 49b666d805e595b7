/** The processes that serve together (`-workers`), as one of them sees them. Alone it is all of them. */
import type { Clock } from '../base/clock.js';
import { Budget } from './budget.js';
import { AllLeases, type Lease, type Leases } from './leases.js';
import type { Channel, Topic } from './channel.js';
import { joinTopic, notRunning, othersTopic, type BudgetTerms, type Missing } from './topics.js';

export interface Workers {
  /** From 1; the worker that takes the place of one that has died has the same. */
  readonly id: number;
  /** How many there are to be. */
  readonly count: number;
  /** Where workers share what they keep; undefined where they do not. */
  readonly sockets: WorkerSockets | undefined;
  /** Answers what is asked of all by this topic. */
  answer<Asked, Answered>(topic: Topic<Asked, Answered>, answer: Answer<Asked, Answered>): void;
  /** Asks all, this one too, which answers first. Those that do not answer in time are left out. */
  gather<Asked, Answered>(
    topic: Topic<Asked, Answered>,
    asked: Asked,
    how?: GatherBounds,
  ): Promise<Gathered<Answered>>;
  /** A rate that holds for all together. */
  tokens(terms: BudgetTerms): Tokens;
  /** A number of places that all have together. `inUse` tells how many are taken here, `onMore` is called when more may be. */
  places(terms: PlacesTerms): Places;
}

export interface WorkerSockets {
  /** Paths by worker, from the first on. */
  readonly paths: readonly string[];
  /** What who asks there shows. */
  readonly token: string;
}

export type Answer<Asked, Answered> = (asked: Asked) => Answered | Promise<Answered>;

export interface GatherBounds {
  /** How long the others may take; 10 s unless given. */
  readonly boundMs?: number;
  /** Whether it must not be missed: a worker that was not there is told when it joins (`Joined.missed`). */
  readonly isOwed?: boolean;
}

export interface Gathered<Answered> {
  /** By worker, from the first on. */
  readonly answers: readonly { readonly worker: number; readonly answer: Answered }[];
  readonly missing: readonly Missing[];
}

export interface Tokens {
  /** Takes one of what this process has; false when there is none here. */
  takeNow(key: string): boolean;
  /** Takes one; where this process has none, the first process is asked for some, which takes a moment at most. */
  take(key: string): boolean | Promise<boolean>;
  /** Nothing is taken any more. */
  release(): void;
}

export interface PlacesTerms {
  readonly name: string;
  readonly size: number;
  readonly inUse: () => number;
  readonly onMore: () => void;
}

export interface Places {
  /** How many this process has. */
  readonly held: number;
  /** How many may be in use here: less than it has for a while where others wait. */
  readonly most: number;
  /** Asks for more; undefined where that is of no use. Resolves within a moment, whatever came of it. */
  more(): Promise<void> | undefined;
  /** Another number is in use. */
  changed(): void;
  /** None is in use any more. */
  release(): void;
}

const nothing = (): undefined => undefined;
const gatherMs = 10_000;
const budgetKey = '';

/** One process. */
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
    places: ({ size }) => ({ held: size, most: size, more: nothing, changed: nothing, release: nothing }),
  };
}

async function ownAnswer<Asked, Answered>(
  handlers: ReadonlyMap<string, Answer<never, unknown>>,
  { name }: Topic<Asked, Answered>,
  asked: Asked,
  worker: number,
): Promise<Gathered<Answered>> {
  // The topic says what its handler takes and gives.
  const answer = handlers.get(name) as Answer<Asked, Answered> | undefined;
  return { answers: answer === undefined ? [] : [{ worker, answer: await answer(asked) }], missing: [] };
}

export interface JoinedSettings {
  readonly id: number;
  readonly count: number;
  readonly sockets?: WorkerSockets | undefined;
  /** To the first process. */
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
  /** Told of those that do not answer although they run. */
  onMissing: (topic: string, missing: readonly Missing[]) => void = () => undefined;

  constructor({ id, count, sockets, channel, clock }: JoinedSettings) {
    this.sockets = sockets;
    this.id = id;
    this.count = count;
    this.#channel = channel;
    this.#clock = clock;
    this.#leases = new AllLeases(channel, clock);
  }

  /** From now on the others' questions come. Returns the topics of which something was missed before. */
  join(): Promise<readonly string[]> {
    return this.#channel.ask(joinTopic, null, gatherMs);
  }

  /** Asks the first process. */
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
    // The first process passes on what another worker has answered to the same topic.
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

  places({ name, size, inUse, onMore }: PlacesTerms): Places {
    const leases = this.#leases.of({ name, size, perSecond: 0 });
    const lease = leases.pin(budgetKey, inUse, onMore);
    return new LeasedPlaces(leases, lease, this.#clock, () => this.#leases.leave(name));
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

/** One that others were faster than asks again, up to this. */
const takeSoonMs = 1_000;

class LeasedPlaces implements Places {
  constructor(
    private readonly leases: Leases,
    private readonly lease: Lease,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly leave: () => void,
  ) {}

  release(): void {
    this.leases.unpin(budgetKey, this.lease);
    this.leave();
  }

  get held(): number {
    return this.lease.held;
  }

  get most(): number {
    return this.lease.mostNow(this.clock.monotonicMs());
  }

  more(): Promise<void> | undefined {
    return this.leases.more(budgetKey, this.lease);
  }

  changed(): void {
    if (this.lease.free * 2 <= this.lease.held) this.lease.isUsed = true;
    this.leases.giveExcess(budgetKey, this.lease);
  }
}
