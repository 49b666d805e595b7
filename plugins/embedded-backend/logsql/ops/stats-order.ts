import type { FieldRef } from '../../../../core/victoria/logsql/ast.js';
import { isListed } from '../../../../core/victoria/logsql/build.js';
import {
  compareRanked,
  compareValues,
  rank,
  type RankedValue,
} from '../../../../core/victoria/logsql/eval/compare.js';
import type { Accumulator, ValuesReader } from '../../../../core/victoria/logsql/ops/accumulator.js';
import { packJson } from '../../../../core/victoria/logsql/ops/format.js';
import { limitOf, textSize, type PipeBudget } from '../../../../core/victoria/logsql/ops/operator.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import type { EmbeddedFunction, SortKey } from '../ast.js';

const sampleSize = 100_000;

/** `quantile` and `median`: one of the values, by nearest rank; of very many values only a sample is kept. */
export function quantileFactory(read: ValuesReader, phi: number, budget: PipeBudget): () => Accumulator {
  return () => {
    const sample: string[] = [];
    let seen = 0;
    const take = (value: string): void => {
      seen++;
      if (sample.length < sampleSize) {
        budget.add(textSize(value));
        sample.push(value);
        return;
      }
      const place = Math.floor(Math.random() * seen);
      if (place < sampleSize) sample[place] = value;
    };
    return {
      add: (row) => read(row, take),
      result() {
        if (sample.length === 0) return '';
        const sorted = sample.map(rank).sort(compareRanked);
        return sorted[Math.min(Math.floor(phi * sorted.length), sorted.length - 1)]?.text ?? '';
      },
    };
  };
}

/** `row_min`, `row_max`, `row_any` return a row as JSON; `field_min`, `field_max`, `any` return one of its values. */
export function edgeFactory(func: EmbeddedFunction): () => Accumulator {
  const { source, fields } = func;
  const [only] = fields;
  const show =
    func.name.startsWith('row_') || only?.kind !== 'name'
      ? (row: RowView): string => jsonObjectOf(row, fields)
      : (row: RowView): string => row.get(only.name);
  if (source === undefined) return () => firstRow(func.name === 'any', show);
  const sign = func.name.endsWith('_min') ? -1 : 1;
  return () => {
    let best: RankedValue | undefined;
    let shown = func.name.startsWith('row_') ? '{}' : '';
    return {
      add(row) {
        const value = row.get(source);
        if (value === '') return;
        const ranked = rank(value);
        if (best !== undefined && compareRanked(ranked, best) * sign <= 0) return;
        best = ranked;
        shown = show(row);
      },
      result: () => shown,
    };
  };
}

function firstRow(needsValue: boolean, show: (row: RowView) => string): Accumulator {
  let shown: string | undefined;
  return {
    add(row) {
      if (shown !== undefined) return;
      const text = show(row);
      if (text !== '' || !needsValue) shown = text;
    },
    result: () => shown ?? (needsValue ? '' : '{}'),
  };
}

/** The non-empty fields of a row as a JSON object. */
function jsonObjectOf(row: RowView, fields: readonly FieldRef[]): string {
  const names = fields.every((field) => field.kind === 'name')
    ? fields.map((field) => field.name)
    : [...row.fieldNames()].filter((name) => isListed(fields, name)).sort();
  return packJson(names.flatMap((name) => (row.get(name) === '' ? [] : [[name, row.get(name)]])));
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

/** `json_values`: rows as JSON objects in a JSON array, optionally sorted. */
export function jsonValuesFactory(func: EmbeddedFunction, budget: PipeBudget): () => Accumulator {
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
