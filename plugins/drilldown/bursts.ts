import { startTimer } from '../../core/base/time/waits.js';
import { withoutPermit } from '../../core/base/admission/fair-queue.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { detachExchange, Flights } from '../../core/cache/answer-caching.js';
import type { CheckedMetric } from '../../core/engine/plan/checked-request.js';
import type { Exchange, Rest } from '../../core/plugin/index.js';
import type { MatrixAnswer } from '../../core/wire/answer/types.js';

/** A query that may be gathered with others. */
export interface BurstQuestion {
  readonly exchange: Exchange<'tenant' | 'plan'>;
  readonly asked: CheckedMetric;
  readonly rest: Rest;
}

export interface BurstOptions {
  /** Time for which the first query waits for others, in milliseconds. */
  readonly windowMs: number;
  readonly maxFields: number;
  /** Called with the number of queries that share a read. */
  readonly onGathered: (questions: number) => void;
}

/** Answers by query; undefined for a query that must be sent alone. */
type Answers = readonly (MatrixAnswer | undefined)[];

/** Queries that arrived close together. */
interface Burst {
  readonly key: string;
  readonly questions: BurstQuestion[];
  /** Resolves when no more queries are accepted. */
  readonly closed: Promise<void>;
  readonly close: () => void;
}

/** Maximum number of open bursts; further queries are sent alone. */
const maxOpen = 1_000;

/**
 * Gathers queries with the same key that arrive within a time window, and lets the rest of the chain answer them together. A caller that
 * leaves does not affect the others; when the last one leaves, the shared work ends.
 */
export class Bursts {
  readonly #options: BurstOptions;
  readonly #open = new Map<string, Burst>();
  readonly #flights = new Flights<Answers, Burst>(Infinity);

  constructor(options: BurstOptions) {
    this.#options = options;
  }

  /** The answer; undefined if the query must be sent alone. Throws the error that ended the shared work, or the signal's reason. */
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
    // The first query keeps its permit for the shared work; the others release theirs while they wait.
    const answers = await (isShared ? withoutPermit(slots.permit, () => result) : result);
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
    const timer = startTimer(close, this.#options.windowMs);
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
      // The shared work may be rejected although each query alone would not be.
      if (error instanceof ApiError && error.status < 499) return [];
      throw error;
    } finally {
      memory.close();
    }
  }
}
