import type { Lifecycle } from './contract.js';
import type { RequestObserver } from '../telemetry/request-record.js';

/** Registrations of a plugin with the process through its host. */
export class Registrations {
  /** Observers of the requests that its pipeline answers. */
  readonly observers: RequestObserver[] = [];
  readonly #undo: (() => void)[] = [];

  /** Work to do when the plugin has stopped, the latest first. */
  onStop(work: () => void): void {
    this.#undo.push(work);
  }

  end(): void {
    for (const work of this.#undo.splice(0).reverse()) work();
    this.observers.splice(0);
  }
}

/** A plugin from its making to its end. The pipelines that hold it may follow each other: with the last one it ends. */
export class Life<Made extends Lifecycle = Lifecycle> {
  readonly lifecycle: Made;
  readonly registered: Registrations;
  isStarted = false;
  readonly #onEnd: () => void;
  #holders = 0;

  /** @param id by which messages name it */
  constructor(
    readonly id: string,
    lifecycle: Made,
    registered = new Registrations(),
    onEnd: () => void = () => undefined,
  ) {
    this.lifecycle = lifecycle;
    this.registered = registered;
    this.#onEnd = onEnd;
  }

  hold(): void {
    this.#holders += 1;
  }

  /** True when nobody holds it any more, so that it is to be stopped; nobody takes it up again then. */
  release(): boolean {
    this.#holders -= 1;
    if (this.#holders === 0) this.#onEnd();
    return this.#holders === 0;
  }
}

/** The plugins that live, by what makes them what they are: one that a later pipeline wants just so is taken over with all that it keeps. */
export class Lives {
  readonly #all = new Map<string, Life>();
  readonly #numbers = new WeakMap<object, number>();
  #known = 0;

  get count(): number {
    return this.#all.size;
  }

  get all(): Iterable<Life> {
    return this.#all.values();
  }

  get ids(): ReadonlySet<string> {
    return new Set([...this.#all.values()].map(({ id }) => id));
  }

  /** A number that stands for this very object, such as the definition of a plugin. */
  numberOf(definition: object): number {
    const known = this.#numbers.get(definition);
    if (known !== undefined) return known;
    this.#known += 1;
    this.#numbers.set(definition, this.#known);
    return this.#known;
  }

  take<Made extends Lifecycle>(
    key: string,
    id: string,
    make: (registered: Registrations) => Made,
  ): Life<Made> {
    // The key names the definition, which makes the same kind of thing each time.
    const living = this.#all.get(key) as Life<Made> | undefined;
    if (living !== undefined) return living;
    const registered = new Registrations();
    try {
      const made = make(registered);
      const life = new Life(id, made, registered, () => {
        if (this.#all.get(key) === life) this.#all.delete(key);
      });
      this.#all.set(key, life);
      return life;
    } catch (error) {
      registered.end();
      throw error;
    }
  }
}
