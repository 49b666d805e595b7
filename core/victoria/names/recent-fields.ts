import { columnsOf, isOwnColumn, type BackendRow } from '../upstream/types.js';

/** The fields of a row. */
interface Kept<Made> {
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** What was made of them; undefined until they come again. */
  made: Made | undefined;
}

const mostKept = 4;
/** After so many rows in turn that are like none before, so many rows are not compared. */
const missesBeforePause = 8;
const pausedRows = 250;

/**
 * Remembers what was made of the fields of a stream's rows: most rows have the same fields as one shortly before. It is not kept before the second
 * time: V8 would see that all of these objects live long, and put those of other rows among the old ones, too.
 */
export class RecentFields<Made> {
  readonly #kept: Kept<Made>[] = [];
  /** The fields of the row that was looked for last, if they came before. */
  #again: Kept<Made> | undefined;
  #misses = 0;
  #paused = 0;

  /** What was made of another row with the same fields. */
  get(row: BackendRow): Made | undefined {
    if (this.#paused > 0) {
      this.#paused -= 1;
      return undefined;
    }
    const kept = this.#kept;
    this.#again = undefined;
    for (let place = 0; place < kept.length; place += 1) {
      const one = kept[place];
      if (one === undefined || !hasFields(row, one)) continue;
      this.#misses = 0;
      this.#again = one;
      return one.made;
    }
    this.#misses += 1;
    return undefined;
  }

  /** Remembers what was made of a row that `get` did not know, in place of the oldest. */
  keep(row: BackendRow, made: Made): void {
    if (this.#paused > 0) return;
    if (this.#again !== undefined) {
      this.#again.made = made;
      return;
    }
    if (this.#misses >= missesBeforePause) {
      [this.#misses, this.#paused] = [0, pausedRows];
      return;
    }
    const [names, values]: [string[], string[]] = [[], []];
    const columns = columnsOf(row);
    for (const name in columns) {
      if (isOwnColumn(name)) continue;
      names.push(name);
      values.push(columns[name] ?? '');
    }
    if (this.#kept.length === mostKept) this.#kept.shift();
    this.#kept.push({ names, values, made: undefined });
  }
}

function hasFields(row: BackendRow, { names, values }: Kept<unknown>): boolean {
  let place = 0;
  const columns = columnsOf(row);
  for (const name in columns) {
    if (isOwnColumn(name)) continue;
    if (names[place] !== name || values[place] !== columns[name]) return false;
    place += 1;
  }
  return place === names.length;
}
