import { withoutPlace } from '../../core/base/admission/place.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { detachExchange } from '../../core/cache/detach.js';
import { Flights } from '../../core/cache/flights.js';
import type { AskedMetric } from '../../core/engine/plan/asked.js';
import type { Exchange, Rest } from '../../core/plugin/index.js';
import type { MatrixAnswer } from '../../core/wire/answer/types.js';

/** A question that may be gathered with others. */
export interface BurstQuestion {
  readonly exchange: Exchange<'tenant' | 'plan'>;
  readonly asked: AskedMetric;
  readonly rest: Rest;
}

export interface BurstOptions {
  /** The time that the first question waits for others, in milliseconds. */
  readonly windowMs: number;
  readonly maxFields: number;
  /** Notified of the number of questions that are read for at once. */
  readonly onGathered: (questions: number) => void;
}

/** By question; undefined for one that has to be asked alone. */
type Answers = readonly (MatrixAnswer | undefined)[];

/** Questions that came close together. */
interface Burst {
  readonly key: string;
  readonly questions: BurstQuestion[];
  /** Resolves when no more are taken. */
  readonly closed: Promise<void>;
  readonly close: () => void;
}

/** The most bursts that wait for questions; further ones are asked alone. */
const maxOpen = 1_000;

/**
 * Gathers questions with the same key that come within a window of time, and has the rest of the chain answer them together. A caller that
 * leaves ends no other wait; when the last one leaves, the shared work ends.
 */
export class Bursts {
  readonly #options: BurstOptions;
  readonly #open = new Map<string, Burst>();
  readonly #flights = new Flights<Answers, Burst>(Infinity);

  constructor(options: BurstOptions) {
    this.#options = options;
  }

  /** The answer, or undefined when the question has to be asked alone. Throws what ended the shared work, or the signal's reason. */
  async ask(key: string, question: BurstQuestion): Promise<MatrixAnswer | undefined> {
    let burst = this.#open.get(key);
    if (burst === undefined) {
      if (this.#open.size >= maxOpen) return undefined;
      this.#open.set(key, (burst = this.#begin(key)));
    }
    const index = burst.questions.push(question) - 1;
    if (burst.questions.length >= this.#options.maxFields) burst.close();
    const { signal, slots } = question.exchange;
    const { result, isShared } = this.#flights.join(burst, signal, (shared) => this.#answer(burst, shared));
    // The first one keeps its place for the work of all; the others wait for it and do none.
    const answers = await (isShared ? withoutPlace(slots.place, () => result) : result);
    return answers[index];
  }

  #begin(key: string): Burst {
    let resolve = (): void => undefined;
    const closed = new Promise<void>((done) => (resolve = done));
    const close = (): void => {
      clearTimeout(timer);
      this.#open.delete(key);
      resolve();
    };
    const timer = setTimeout(close, this.#options.windowMs);
    return { key, questions: [], closed, close };
  }

  async #answer({ questions, closed, close }: Burst, signal: AbortSignal): Promise<Answers> {
    signal.addEventListener('abort', close, { once: true });
    await closed;
    signal.throwIfAborted();
    const [first, second] = questions.filter(({ exchange }) => !exchange.signal.aborted);
    if (first === undefined || second === undefined) return [];
    this.#options.onGathered(questions.length);
    const { exchange, rest } = first;
    const memory = exchange.memory.another();
    try {
      const parts = questions.map(({ asked, exchange: { signal: own } }) => ({ asked, signal: own }));
      const shared = detachExchange(exchange, signal, { ...exchange, memory });
      const answer = await rest(shared.derive<'plan'>({ slots: { plan: { kind: 'gathered', parts } } }));
      return answer.kind === 'several' ? answer.answers : [];
    } catch (error) {
      // The work for several may be refused where that for one is not.
      if (error instanceof ApiError && error.status < 499) return [];
      throw error;
    } finally {
      memory.close();
    }
  }
}
