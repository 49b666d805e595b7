import type { UniqPipe } from '../ast.js';
import { groupedValue } from '../numbers.js';
import type { RowView } from '../row.js';
import { emitAll, limitOf, textSize, type Operator, type PipeBudget } from './operator.js';
import { rowOf } from './shape.js';

export interface ValueGroup {
  readonly values: readonly string[];
  hits: number;
}

/** Counts rows by the values of some fields; integers with `_` are grouped without it. */
export class ValueGroups {
  readonly #by: readonly string[];
  readonly #budget: PipeBudget;
  readonly #groups = new Map<string, ValueGroup>();

  constructor(by: readonly string[], budget: PipeBudget) {
    this.#by = by;
    this.#budget = budget;
  }

  get size(): number {
    return this.#groups.size;
  }

  add(row: RowView): void {
    const values = this.#by.map((name) => groupedValue(row.get(name)));
    const key = values.length === 1 ? (values[0] ?? '') : JSON.stringify(values);
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.hits++;
      return;
    }
    this.#budget.add(128 + textSize(key) * 2);
    this.#groups.set(key, { values, hits: 1 });
  }

  all(): ValueGroup[] {
    return [...this.#groups.values()];
  }
}

export function groupRow(by: readonly string[], group: ValueGroup): Map<string, string> {
  return new Map(by.map((name, i) => [name, group.values[i] ?? '']));
}

/** `uniq`. When the limit cuts the groups, their row counts are unknown and shown as 0. */
export function uniqOperator(pipe: UniqPipe, budget: PipeBudget, next: Operator): Operator {
  const groups = new ValueGroups(pipe.by, budget);
  const limit = limitOf(pipe.limit);
  let hitsName = 'hits';
  while (pipe.by.includes(hitsName)) hitsName += 's';
  return {
    push(row) {
      groups.add(row);
      return groups.size <= limit;
    },
    finish() {
      const cut = groups.size > limit;
      const rows = groups
        .all()
        .slice(0, limit)
        .map((group) => {
          const fields = groupRow(pipe.by, group);
          if (pipe.hits) fields.set(hitsName, cut ? '0' : group.hits.toString());
          return rowOf(fields);
        });
      emitAll(rows, next);
    },
  };
}
