/** The result of joining: the shared promise, and whether another caller had started the call. */
export interface Joined<Value> {
  readonly result: Promise<Value>;
  readonly isShared: boolean;
}

interface Flight<Value> {
  readonly controller: AbortController;
  readonly result: Promise<Value>;
  waiters: number;
}

/**
 * Merges identical concurrent calls. A waiter that leaves does not affect the others. When the last one leaves, the call is aborted and
 * forgotten. An error reaches the current waiters and nobody later. A call has at most `maxWaiters` waiters; further ones start and share
 * another call.
 */
export class Flights<Value, Key = string> {
  readonly #byKey = new Map<Key, Flight<Value>>();
  readonly #maxWaiters: number;

  constructor(maxWaiters: number) {
    this.#maxWaiters = maxWaiters;
  }

  /** Calls in flight that can still be joined. */
  get size(): number {
    return this.#byKey.size;
  }

  /**
   * Joins the call for this key or starts it. `run` gets its own signal, which aborts when no waiter is left; `signal` only ends this
   * caller's wait. Throws the signal's reason if it has already aborted.
   */
  join(key: Key, signal: AbortSignal, run: (signal: AbortSignal) => Promise<Value>): Joined<Value> {
    signal.throwIfAborted();
    const running = this.#byKey.get(key);
    const isShared = running !== undefined && running.waiters < this.#maxWaiters;
    const flight = isShared ? running : this.#start(key, run);
    return { result: this.#wait(key, flight, signal), isShared };
  }

  #start(key: Key, run: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const controller = new AbortController();
    const flight: Flight<Value> = { controller, waiters: 0, result: startNow(() => run(controller.signal)) };
    this.#byKey.set(key, flight);
    const forget = (): void => this.#forget(key, flight);
    // Every waiter handles the result itself; this also prevents an unhandled rejection without waiters.
    flight.result.then(forget, forget);
    return flight;
  }

  #wait(key: Key, flight: Flight<Value>, signal: AbortSignal): Promise<Value> {
    flight.waiters += 1;
    return new Promise<Value>((resolve, reject) => {
      const leave = (): void => {
        flight.waiters -= 1;
        if (flight.waiters === 0) {
          this.#forget(key, flight);
          flight.controller.abort(signal.reason);
        }
        reject(reasonOf(signal));
      };
      signal.addEventListener('abort', leave, { once: true });
      const settled = (): void => signal.removeEventListener('abort', leave);
      flight.result.finally(settled).then(resolve, reject);
    });
  }

  #forget(key: Key, flight: Flight<Value>): void {
    if (this.#byKey.get(key) === flight) this.#byKey.delete(key);
  }
}

/** Calls immediately; a synchronous error becomes a rejection. */
async function startNow<Value>(run: () => Promise<Value>): Promise<Value> {
  return await run();
}

function reasonOf(signal: AbortSignal): Error {
  // `reason` is typed any because abort() accepts anything.
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException('This operation was aborted', 'AbortError');
}
