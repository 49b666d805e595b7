import { inParallel } from '../../core/base/pace/in-parallel.js';
import type { Answer, ApiRequest, Exchange, Rest } from '../../core/plugin/index.js';
import type { Side } from './border.js';
import type { OldLoki } from './old-loki.js';

/** The part of a request that one side answers. */
export interface SidePart {
  readonly side: Side;
  readonly request: ApiRequest;
}

/** The old Loki and the rest of the chain, for one exchange. */
export class Sides {
  readonly signal: AbortSignal;
  readonly #exchange: Exchange<'tenant'>;
  readonly #rest: Rest;
  readonly #loki: OldLoki;

  constructor(exchange: Exchange<'tenant'>, rest: Rest, loki: OldLoki) {
    this.signal = exchange.signal;
    this.#exchange = exchange;
    this.#rest = rest;
    this.#loki = loki;
  }

  ask({ side, request }: SidePart, signal = this.signal): Promise<Answer> {
    const { slots, memory } = this.#exchange;
    return side === 'old'
      ? this.#loki.ask(request, slots.tenant, memory, signal)
      : this.#rest(this.#exchange.derive({ request, signal, isFinal: false }));
  }

  /**
   * Asks all at once; the first failure ends the others. Answers come in the order of the parts.
   * @param onOldError replaces the answer of the old Loki, or throws
   */
  askAll(
    parts: readonly SidePart[],
    onOldError: (error: unknown) => Answer = rethrown,
    signal = this.signal,
  ): Promise<readonly Answer[]> {
    const run = async (one: SidePart, ends: AbortSignal): Promise<Answer> => {
      const answering = this.ask(one, ends);
      return one.side === 'old' ? answering.catch(onOldError) : answering;
    };
    return inParallel(parts, parts.length, run, signal);
  }
}

export function rethrown(error: unknown): never {
  throw error;
}
