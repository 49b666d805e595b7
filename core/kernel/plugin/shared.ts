import type { Host } from './host.js';

interface Entry {
  readonly value: unknown;
  readonly undo: (() => void)[];
  users: number;
}

/** Values that plugins of a process share, by name: made by the first that asks for it, given up with the last one that did. */
export class SharedValues {
  readonly #made = new Map<string, Entry>();

  /** Access of one plugin to them; `onStop` is told what to call when it has stopped. */
  for(onStop: Host['onStop']): Host['shared'] {
    const used = new Set<string>();
    return <Value>(name: string, make: (onEnd: Host['onStop']) => Value): Value => {
      const entry = this.#made.get(name) ?? this.#make(name, make);
      if (!used.has(name)) {
        used.add(name);
        entry.users += 1;
        onStop(() => this.#leave(name, entry));
      }
      // A name always stands for the same type: its owner exports the one function that uses it.
      return entry.value as Value;
    };
  }

  #make(name: string, make: (onEnd: Host['onStop']) => unknown): Entry {
    const undo: Entry['undo'] = [];
    const entry = { value: make((work) => void undo.push(work)), undo, users: 0 };
    this.#made.set(name, entry);
    return entry;
  }

  #leave(name: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    this.#made.delete(name);
    for (const work of entry.undo.reverse()) work();
  }
}
