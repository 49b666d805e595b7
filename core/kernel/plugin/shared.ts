import type { Host } from './host.js';

/** Makes what plugins share once for each name. */
export function createShared(): Host['shared'] {
  const made = new Map<string, unknown>();
  return <Value>(name: string, make: () => Value): Value => {
    if (!made.has(name)) made.set(name, make());
    // A name always stands for the same type: its owner exports the one function that uses it.
    return made.get(name) as Value;
  };
}
