import { parseSaved, withSaved, type SavedQuery } from '../model/query/saved.js';
import { keep } from './kept.js';
import { Store } from './store.js';

const savedKey = 'ref-proxy.saved';
/** Maximum size of a file that is imported. */
const maxFileBytes = 4_000_000;

interface SavedState {
  readonly saved: readonly SavedQuery[];
  /** The outcome of the last action, in words. */
  readonly message: string;
}

/** Queries that are saved by name in this browser. */
export class SavedQueries {
  readonly store = new Store<SavedState>({ saved: this.#read(), message: '' });

  save(one: SavedQuery): boolean {
    return this.#take(withSaved(this.#read(), one), `Saved as “${one.name.trim()}”.`);
  }

  delete(name: string): void {
    this.#take(
      this.#read().filter((one) => one.name !== name),
      `“${name}” is deleted.`,
    );
  }

  /** The saved queries as a file. */
  export(): Blob {
    return new Blob([JSON.stringify(this.#read(), null, 2)], { type: 'application/json' });
  }

  /** Adds the queries of a file; those of the same name are replaced. */
  async import(file: Blob): Promise<void> {
    const found = file.size > maxFileBytes ? undefined : parseSaved(await file.text());
    if (found === undefined) {
      this.store.set({ message: 'This file has no saved queries.' });
      return;
    }
    let saved: readonly SavedQuery[] | string = this.#read();
    for (const one of found) if (typeof saved !== 'string') saved = withSaved(saved, one);
    this.#take(saved, `${found.length} imported.`);
  }

  #take(saved: readonly SavedQuery[] | string, message: string): boolean {
    if (typeof saved === 'string') {
      this.store.set({ message: saved });
      return false;
    }
    this.store.set({ saved, message });
    keep(savedKey, saved);
    return true;
  }

  /** Read anew for each change, because another tab may have saved one. */
  #read(): readonly SavedQuery[] {
    return parseSaved(localStorage.getItem(savedKey) ?? '[]') ?? [];
  }
}

export const savedQueries = new SavedQueries();
