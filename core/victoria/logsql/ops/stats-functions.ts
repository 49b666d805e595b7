import { formatFloatPlain } from '../../../base/time/index.js';
import type { FieldRef, StatsFunction } from '../ast.js';
import { compareRanked, rank, type RankedValue } from '../eval/compare.js';
import { groupedValue, parseNumber, parsePlain } from '../numbers.js';
import type { RowView } from '../row.js';
import { valuesReader, type Accumulator, type ValuesReader } from './accumulator.js';
import { limitOf, textSize, type PipeBudget } from './operator.js';

export interface StatsSettings {
  /** Without `by`, sums accept durations, sizes and exponents as numbers; with `by`, only plain decimals. */
  readonly lenient: boolean;
  readonly budget: PipeBudget;
}

/** Prepares a function; the returned factory makes one accumulator per group. */
export function accumulatorFactory(func: StatsFunction, settings: StatsSettings): () => Accumulator {
  const read = valuesReader(func.fields);
  const { budget, lenient } = settings;
  const number = lenient ? parseNumber : parsePlain;
  switch (func.name) {
    case 'count':
      return countsAll(func) ? countRows : countPresent(read);
    case 'count_uniq':
    case 'count_uniq_hash':
      return countUniqFactory(func, budget);
    case 'sum':
      return sumFactory(read, number);
    case 'avg':
      return averageFactory(read, number);
    case 'sum_len':
      return sumLengthFactory(read);
    case 'min':
    case 'max':
      return extremeFactory(read, func.name === 'min' ? -1 : 1);
    case 'values':
      return valuesFactory(read, func.limit, budget);
  }
}

function countsAll(func: StatsFunction): boolean {
  return func.fields.some((field) => field.kind === 'prefix' && field.prefix === '');
}

function countRows(): Accumulator {
  let count = 0;
  return {
    add() {
      count++;
    },
    result: () => count.toString(),
  };
}

/** Counts rows with a value in any of the fields. */
export function countPresent(read: ValuesReader): () => Accumulator {
  return () => {
    let count = 0;
    return {
      add(row) {
        let found = 0;
        read(row, (value) => void (found = value === '' ? found : 1));
        count += found;
      },
      result: () => count.toString(),
    };
  };
}

function sumFactory(read: ValuesReader, number: (text: string) => number | undefined): () => Accumulator {
  return () => {
    let sum = NaN;
    const take = (value: string): void => {
      const parsed = number(value);
      if (parsed !== undefined) sum = Number.isNaN(sum) ? parsed : sum + parsed;
    };
    return { add: (row) => read(row, take), result: () => formatFloatPlain(sum) };
  };
}

function averageFactory(read: ValuesReader, number: (text: string) => number | undefined): () => Accumulator {
  return () => {
    let sum = 0;
    let count = 0;
    const take = (value: string): void => {
      const parsed = number(value);
      if (parsed === undefined) return;
      sum += parsed;
      count++;
    };
    return { add: (row) => read(row, take), result: () => formatFloatPlain(sum / count) };
  };
}

function sumLengthFactory(read: ValuesReader): () => Accumulator {
  return () => {
    let bytes = 0;
    return {
      add: (row) => read(row, (value) => void (bytes += Buffer.byteLength(value))),
      result: () => bytes.toString(),
    };
  };
}

/** `min` (sign -1) and `max` (sign 1): the stored text of the first or last value in value order. */
function extremeFactory(read: ValuesReader, sign: -1 | 1): () => Accumulator {
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

/** `count_uniq`: the number of distinct values, or of distinct combinations of values; empty ones do not count. */
function countUniqFactory(func: StatsFunction, budget: PipeBudget): () => Accumulator {
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

/** `values`: all values as a JSON array, in the order of the rows. */
function valuesFactory(read: ValuesReader, limit: number | undefined, budget: PipeBudget): () => Accumulator {
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
