import { ofKey } from '../../base/memory/byte-lru.js';
import type { Lifecycle } from './contract.js';
import type { RequestObserver } from '../telemetry/request-log.js';

/** Registrations of a plugin with the process, made through its host. */
export class Registrations {
  /** Observers of the requests that its pipeline answers. */
  readonly observers: RequestObserver[] = [];
  readonly #undo: (() => void)[] = [];

  /** Registers cleanup for when the plugin has stopped; the latest registration runs first. */
  onStop(work: () => void): void {
    this.#undo.push(work);
  }

  end(): void {
    for (const work of this.#undo.splice(0).reverse()) work();
    this.observers.splice(0);
  }
}

/** A plugin instance, from its creation to its end. Successive pipelines may share it; it ends with the last one. */
export class Life<Made extends Lifecycle = Lifecycle> {
  readonly lifecycle: Made;
  readonly registered: Registrations;
  isStarted = false;
  readonly #onEnd: () => void;
  #holders = 0;

  /** @param id name in messages */
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

  /** Releases it for one pipeline; true if none holds it any more, so that it must be stopped and can no longer be reused. */
  release(): boolean {
    this.#holders -= 1;
    if (this.#holders === 0) this.#onEnd();
    return this.#holders === 0;
  }
}

/** The live plugin instances by key: an instance that a later pipeline needs unchanged is reused, with its caches. */
export class Lives {
  readonly #all = new Map<string, Life>();
  readonly #numbers = new WeakMap<object, number>();
  #known = 0;

  get all(): Iterable<Life> {
    return this.#all.values();
  }

  get ids(): ReadonlySet<string> {
    return new Set([...this.#all.values()].map(({ id }) => id));
  }

  /** A number that identifies this object, such as a plugin's definition. */
  numberOf(definition: object): number {
    return ofKey(this.#numbers, definition, () => (this.#known += 1));
  }

  take<Made extends Lifecycle>(
    key: string,
    id: string,
    make: (registered: Registrations) => Made,
  ): Life<Made> {
    // The key identifies the definition, so the instance has this type.
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
