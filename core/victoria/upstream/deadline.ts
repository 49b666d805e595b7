/** The lifetime of one call: it ends with its parent signal or at its timeout. `end` frees its resources and must always be called. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #hasPassed = false;
  readonly #onParent = (): void => this.#controller.abort(this.#parent.reason);

  constructor(parent: AbortSignal, timeoutMs: number) {
    this.#parent = parent;
    this.#timer = setTimeout(() => {
      this.#hasPassed = true;
      this.#controller.abort(new Error(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    parent.addEventListener('abort', this.#onParent, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True if the timeout fired before the call ended. */
  get hasPassed(): boolean {
    return this.#hasPassed;
  }

  /** Removes the timeout; the call still ends with its parent. */
  lift(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#parent.removeEventListener('abort', this.#onParent);
  }
}
