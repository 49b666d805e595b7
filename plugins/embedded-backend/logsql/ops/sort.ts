import { ofKey } from '../../../../core/base/memory/byte-lru.js';
import type { OrderPipe } from '../ast.js';
import { compareRanked, rank } from '../../../../core/victoria/logsql/eval/compare.js';
import type { RankedValue } from '../../../../core/victoria/logsql/eval/compare.js';
import { timeOf } from '../../../../core/victoria/logsql/eval/filter.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import { OverlayRow } from '../../../../core/victoria/logsql/ops/derived-row.js';
import {
  emitAll,
  limitOf,
  rowOverhead,
  textSize,
  type Operator,
  type PipeBudget,
} from '../../../../core/victoria/logsql/ops/operator.js';

interface Entry {
  readonly row: RowView;
  readonly keys: readonly RankedValue[];
  readonly order: number;
  readonly size: number;
}

/** `sort`. The sort is stable; with a limit only the best rows are held. */
export class SortOperator implements Operator {
  readonly #pipe: OrderPipe;
  readonly #offset: number;
  /** Rows to keep per partition. */
  readonly #limit: number;
  readonly #budget: PipeBudget;
  readonly #next: Operator;
  readonly #partitions = new Map<string, Entry[]>();
  readonly #compare: (a: Entry, b: Entry) => number;
  #count = 0;

  constructor(pipe: OrderPipe, budget: PipeBudget, next: Operator) {
    this.#pipe = pipe;
    this.#offset = pipe.offset ?? 0;
    this.#limit = limitOf(pipe.limit);
    this.#budget = budget;
    this.#next = next;
    this.#compare = comparator(pipe);
  }

  push(row: RowView): boolean {
    const keys = this.#keysOf(row);
    let size = rowOverhead;
    for (const key of keys) size += textSize(key.text);
    this.#budget.add(size);
    const entry = { row, keys, order: this.#count++, size };
    const partition = this.#partitionOf(row);
    partition.push(entry);
    const wanted = this.#offset + this.#limit;
    if (partition.length > 2 * wanted + 256) this.#trim(partition, wanted);
    return true;
  }

  #trim(partition: Entry[], wanted: number): void {
    partition.sort(this.#compare);
    for (const dropped of partition.splice(wanted)) this.#budget.release(dropped.size);
  }

  #partitionOf(row: RowView): Entry[] {
    const { partitionBy } = this.#pipe;
    const key = partitionBy.length === 0 ? '' : JSON.stringify(partitionBy.map((name) => row.get(name)));
    return ofKey(this.#partitions, key, () => []);
  }

  // Without keys, whole rows are compared, name by name.
  #keysOf(row: RowView): RankedValue[] {
    if (this.#pipe.by.length > 0)
      return this.#pipe.by.map(({ field }) => (field === '_time' ? rankTime(row) : rank(row.get(field))));
    return [...row.fieldNames()].sort().map((name) => rank(row.get(name)));
  }

  finish(): void {
    emitAll(this.#sorted(), this.#next);
  }

  *#sorted(): Generator<RowView> {
    const [offset, limit] = [this.#offset, this.#limit];
    const { rankAs } = this.#pipe;
    for (const partition of this.#partitions.values()) {
      const rows = partition.sort(this.#compare).slice(offset, offset + limit);
      for (const [index, { row }] of rows.entries()) {
        yield rankAs === undefined
          ? row
          : new OverlayRow(row, new Map([[rankAs, (offset + index + 1).toString()]]));
      }
    }
  }
}

function rankTime(row: RowView): RankedValue {
  const time = timeOf(row);
  return time === undefined ? rank(row.get('_time')) : { text: time.toString(), number: undefined, time };
}

function comparator({ by, desc }: OrderPipe): (a: Entry, b: Entry) => number {
  const signs = by.map((key) => (key.desc === desc ? 1 : -1));
  const plain = desc ? -1 : 1;
  return (a, b) => {
    const length = Math.max(a.keys.length, b.keys.length);
    for (let i = 0; i < length; i++) {
      const x = a.keys[i];
      const y = b.keys[i];
      const order = x === undefined ? -1 : y === undefined ? 1 : compareRanked(x, y);
      if (order !== 0) return (signs[i] ?? plain) * order;
    }
    return a.order - b.order;
  };
}
