import { useEffect, useState } from 'preact/hooks';

/** State in a single object, changed partially, with notification of subscribers. */
export class Store<State extends object> {
  #state: State;
  readonly #listeners = new Set<() => void>();

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  set(part: Partial<State>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of [...this.#listeners]) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** A part of a store's state; the component is rendered again when that part changes. */
export function useStore<State extends object, Part>(
  store: Store<State>,
  read: (state: State) => Part,
): Part {
  const [, redraw] = useState({});
  const part = read(store.state);
  useEffect(() => {
    let last = part;
    const look = (): void => {
      const next = read(store.state);
      if (Object.is(next, last)) return;
      last = next;
      redraw({});
    };
    // The state may have changed since rendering.
    look();
    return store.subscribe(look);
  });
  return part;
}
