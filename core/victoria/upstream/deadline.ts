/** The life of one call: it ends with its parent or when its time is over. `end` frees what it holds; call it in any case. */
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

  /** True when the time was over before the call was. */
  get hasPassed(): boolean {
    return this.#hasPassed;
  }

  /** Takes the bound of time off; the call still ends with its parent. */
  lift(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#parent.removeEventListener('abort', this.#onParent);
  }
}
