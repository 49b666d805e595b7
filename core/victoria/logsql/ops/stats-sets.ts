import type { FieldRef, SortKey, StatsFunction } from '../ast.js';
import { compareRanked, compareValues, rank } from '../eval/compare.js';
import { groupedValue } from '../numbers.js';
import type { RowView } from '../row.js';
import { limitOf, textSize, type PipeBudget } from './operator.js';
import type { Accumulator, ValuesReader } from './accumulator.js';
import { valuesReader } from './accumulator.js';
import { jsonObjectOf } from './stats-order.js';

/** `count_uniq`: the number of distinct values, or of distinct combinations of values; empty ones do not count. */
export function countUniqFactory(func: StatsFunction, budget: PipeBudget): () => Accumulator {
  const keyOf = uniqueKey(func.fields);
  const limit = limitOf(func.limit);
  return () => {
    const seen = new Set<string>();
    return {
      add(row) {
        if (seen.size >= limit) return;
        const key = keyOf(row);
        if (key === '' || seen.has(key)) return;
        budget.add(textSize(key));
        seen.add(key);
      },
      result: () => seen.size.toString(),
    };
  };
}

/** A key for a combination of values, '' when all are empty. */
function uniqueKey(fields: readonly FieldRef[]): (row: RowView) => string {
  const [first] = fields;
  if (fields.length === 1 && first?.kind === 'name') return (row) => groupedValue(row.get(first.name));
  const read = valuesReader(fields);
  return (row) => {
    const values: string[] = [];
    read(row, (value) => void values.push(groupedValue(value)));
    return values.every((value) => value === '') ? '' : JSON.stringify(values);
  };
}

/** `uniq_values`: the distinct non-empty values, sorted, as a JSON array. */
export function uniqValuesFactory(
  read: ValuesReader,
  limit: number | undefined,
  budget: PipeBudget,
): () => Accumulator {
  return () => {
    const seen = new Set<string>();
    const take = (value: string): void => {
      if (value === '' || seen.has(value) || seen.size >= limitOf(limit)) return;
      budget.add(textSize(value));
      seen.add(value);
    };
    return { add: (row) => read(row, take), result: () => JSON.stringify([...seen].sort(compareValues)) };
  };
}

/** `values`: all values as a JSON array, in the order of the rows. */
export function valuesFactory(
  read: ValuesReader,
  limit: number | undefined,
  budget: PipeBudget,
): () => Accumulator {
  return () => {
    const values: string[] = [];
    const take = (value: string): void => {
      if (values.length >= limitOf(limit)) return;
      budget.add(textSize(value));
      values.push(value);
    };
    return { add: (row) => read(row, take), result: () => JSON.stringify(values) };
  };
}

/** `json_values`: rows as JSON objects in a JSON array, optionally sorted. */
export function jsonValuesFactory(func: StatsFunction, budget: PipeBudget): () => Accumulator {
  const { fields, sortBy } = func;
  const limit = limitOf(func.limit);
  return () => {
    const rows: { readonly json: string; readonly keys: readonly string[] }[] = [];
    return {
      add(row) {
        if (sortBy === undefined && rows.length >= limit) return;
        const json = jsonObjectOf(row, fields);
        budget.add(textSize(json));
        rows.push({ json, keys: keysOf(row, sortBy) });
      },
      result() {
        const order = sortBy ?? [];
        const sorted =
          order.length === 0 ? rows : [...rows].sort((a, b) => compareKeys(a.keys, b.keys, order));
        return `[${sorted
          .slice(0, limit)
          .map(({ json }) => json)
          .join(',')}]`;
      },
    };
  };
}

function keysOf(row: RowView, sortBy: readonly SortKey[] | undefined): string[] {
  return sortBy?.map(({ field }) => row.get(field)) ?? [];
}

function compareKeys(a: readonly string[], b: readonly string[], order: readonly SortKey[]): number {
  for (const [i, { desc }] of order.entries()) {
    const difference = compareRanked(rank(a[i] ?? ''), rank(b[i] ?? ''));
    if (difference !== 0) return desc ? -difference : difference;
  }
  return 0;
}
