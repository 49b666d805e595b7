import { compareGoStrings } from '../../values/raw-bytes.js';
import type { GoInterface, GoMap, GoValue } from './value.js';

type Entries = readonly (readonly [key: string, value: GoValue])[];

/** An object of decoded JSON. */
export class JsonMap implements GoMap {
  readonly kind = 'map';
  readonly type = 'map[string]interface {}';
  readonly #items: ReadonlyMap<string, GoInterface>;

  constructor(items: ReadonlyMap<string, GoInterface>) {
    this.#items = items;
  }

  get size(): number {
    return this.#items.size;
  }

  get(key: string): GoValue {
    return this.#items.get(key);
  }

  sorted(): Entries {
    return sortByKey([...this.#items]);
  }
}

/** Reads one label; undefined for none. */
export type GetLabel = (name: string) => string | undefined;

/** All labels, for templates that use the dot as a whole. */
export type ListLabels = () => Iterable<readonly [name: string, value: string]>;

/** The labels of a line, which are only collected when a template uses all of them. */
export class LabelMap implements GoMap {
  readonly kind = 'map';
  readonly type = 'map[string]string';
  readonly get: GetLabel;
  readonly #list: ListLabels;
  #sorted: Entries | undefined;

  constructor(get: GetLabel, list: ListLabels) {
    this.get = get;
    this.#list = list;
  }

  get size(): number {
    return this.sorted().length;
  }

  sorted(): Entries {
    this.#sorted ??= sortByKey([...this.#list()]);
    return this.#sorted;
  }
}

function sortByKey(entries: (readonly [string, GoValue])[]): Entries {
  return entries.sort(([a], [b]) => compareGoStrings(a, b));
}
