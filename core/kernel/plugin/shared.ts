import type { Host } from './host.js';

interface Entry {
  readonly value: unknown;
  readonly undo: (() => void)[];
  users: number;
}

/**
 * Values shared by the plugins of a process, by name. The first request creates a value; it is released with the last plugin that requested
 * it.
 */
export class SharedValues {
  readonly #made = new Map<string, Entry>();

  /** Access for one plugin; `onStop` registers the release. */
  for(onStop: Host['onStop']): Host['shared'] {
    const used = new Set<string>();
    return <Value>(name: string, make: (onEnd: Host['onStop']) => Value): Value => {
      const entry = this.#made.get(name) ?? this.#make(name, make);
      if (!used.has(name)) {
        used.add(name);
        entry.users += 1;
        onStop(() => this.#leave(name, entry));
      }
      // A name always has the same type: its owner exports the only function that uses it.
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
