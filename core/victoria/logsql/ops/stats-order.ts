import type { FieldRef, StatsFunction } from '../ast.js';
import { compareRanked, rank } from '../eval/compare.js';
import type { RankedValue } from '../eval/compare.js';
import type { RowView } from '../row.js';
import { isListed } from '../build.js';
import { packJson } from './format.js';
import { textSize } from './operator.js';
import type { PipeBudget } from './operator.js';
import type { Accumulator, ValuesReader } from './accumulator.js';

/** `min` (sign -1) and `max` (sign 1): the stored text of the first or last value in value order. */
export function extremeFactory(read: ValuesReader, sign: -1 | 1): () => Accumulator {
  return () => {
    let best: RankedValue | undefined;
    const take = (value: string): void => {
      if (value === best?.text) return;
      const ranked = rank(value);
      if (best === undefined || compareRanked(ranked, best) * sign > 0) best = ranked;
    };
    return { add: (row) => read(row, take), result: () => best?.text ?? '' };
  };
}

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
export function edgeFactory(func: StatsFunction): () => Accumulator {
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
export function jsonObjectOf(row: RowView, fields: readonly FieldRef[]): string {
  const names = fields.every((field) => field.kind === 'name')
    ? fields.map((field) => field.name)
    : [...row.fieldNames()].filter((name) => isListed(fields, name)).sort();
  return packJson(names.flatMap((name) => (row.get(name) === '' ? [] : [[name, row.get(name)]])));
}
