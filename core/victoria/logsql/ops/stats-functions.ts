import type { StatsFunction } from '../ast.js';
import { formatFloatPlain } from '../../../base/time/index.js';
import { parseNumber, parsePlain } from '../numbers.js';
import type { PipeBudget } from './operator.js';
import { edgeFactory, extremeFactory, quantileFactory } from './stats-order.js';
import { countUniqFactory, jsonValuesFactory, uniqValuesFactory, valuesFactory } from './stats-sets.js';
import { valuesReader, type Accumulator, type ValuesReader } from './accumulator.js';
import { compareNatural } from '../eval/compare.js';

export interface StatsSettings {
  /** The divisor of rates in seconds; undefined means no division. */
  readonly rateSeconds: number | undefined;
  /** Without `by`, sums accept durations, sizes and exponents as numbers; with `by`, only plain decimals. */
  readonly lenient: boolean;
  readonly budget: PipeBudget;
}

/** Prepares a function; the returned factory makes one accumulator per group. */
export function accumulatorFactory(func: StatsFunction, settings: StatsSettings): () => Accumulator {
  const read = valuesReader(func.fields);
  const { budget, lenient, rateSeconds } = settings;
  const number = lenient ? parseNumber : parsePlain;
  switch (func.name) {
    case 'count':
      return countsAll(func) ? countRows(undefined) : countIf(read, true);
    case 'count_empty':
      return countIf(read, false);
    case 'count_uniq':
    case 'count_uniq_hash':
      return countUniqFactory(func, budget);
    case 'sum':
      return sumFactory(read, number, undefined);
    case 'rate':
      return countRows(rateSeconds);
    case 'rate_sum':
      return sumFactory(read, number, rateSeconds);
    case 'avg':
      return averageFactory(read, number);
    case 'stddev':
      return spreadFactory(read);
    case 'sum_len':
      return sumLengthFactory(read);
    case 'min':
    case 'max':
      return extremeFactory(read, func.name === 'min' ? -1 : 1);
    case 'median':
      return quantileFactory(read, 0.5, budget);
    case 'quantile':
      return quantileFactory(read, func.phi ?? 0.5, budget);
    case 'row_min':
    case 'row_max':
    case 'row_any':
    case 'field_min':
    case 'field_max':
    case 'any':
      return edgeFactory(func);
    case 'uniq_values':
      return uniqValuesFactory(read, func.limit, budget);
    case 'values':
      return valuesFactory(read, func.limit, budget);
    case 'json_values':
      return jsonValuesFactory(func, budget);
    case 'histogram':
      return histogramFactory(read);
  }
}

function countsAll(func: StatsFunction): boolean {
  return func.fields.some((field) => field.kind === 'prefix' && field.prefix === '');
}

function countRows(perSeconds: number | undefined): () => Accumulator {
  return () => {
    let count = 0;
    return {
      add() {
        count++;
      },
      result: () =>
        formatFloatPlain(perSeconds === undefined || perSeconds <= 0 ? count : count / perSeconds),
    };
  };
}

// Counts rows with a value in any of the fields, or rows without one.
function countIf(read: ValuesReader, present: boolean): () => Accumulator {
  return () => {
    let count = 0;
    return {
      add(row) {
        let any = false;
        read(row, (value) => void (any ||= value !== ''));
        if (any === present) count++;
      },
      result: () => count.toString(),
    };
  };
}

function sumFactory(
  read: ValuesReader,
  number: (text: string) => number | undefined,
  perSeconds: number | undefined,
): () => Accumulator {
  return () => {
    let sum = NaN;
    const take = (value: string): void => {
      const parsed = number(value);
      if (parsed !== undefined) sum = Number.isNaN(sum) ? parsed : sum + parsed;
    };
    return {
      add: (row) => read(row, take),
      result: () => formatFloatPlain(perSeconds === undefined || perSeconds <= 0 ? sum : sum / perSeconds),
    };
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

// Population deviation with a running mean.
function spreadFactory(read: ValuesReader): () => Accumulator {
  return () => {
    let mean = 0;
    let squares = 0;
    let count = 0;
    const take = (value: string): void => {
      const parsed = parsePlain(value);
      if (parsed === undefined) return;
      count++;
      const difference = parsed - mean;
      mean += difference / count;
      squares += difference * (parsed - mean);
    };
    return { add: (row) => read(row, take), result: () => formatFloatPlain(Math.sqrt(squares / count)) };
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

const perDecade = 18;
const lowest = -9;
const highest = 18;

/** `histogram`: counts in logarithmic ranges, 18 per power of ten, as a JSON array of `vmrange` and `hits`. */
function histogramFactory(read: ValuesReader): () => Accumulator {
  return () => {
    const counts = new Map<string, number>();
    const take = (value: string): void => {
      const number = parseNumber(value);
      if (number === undefined || number < 0) return;
      const range = rangeOf(number);
      counts.set(range, (counts.get(range) ?? 0) + 1);
    };
    return {
      add: (row) => read(row, take),
      result() {
        const ranges = [...counts].sort(([a], [b]) => compareNatural(a, b));
        return `[${ranges.map(([range, hits]) => `{"vmrange":"${range}","hits":${hits}}`).join(',')}]`;
      },
    };
  };
}

function rangeOf(value: number): string {
  if (value <= 10 ** lowest) return `0...${border(0)}`;
  if (value > 10 ** highest) return `${border((highest - lowest) * perDecade)}...+Inf`;
  const place = (Math.log10(value) - lowest) * perDecade;
  // A value on a boundary belongs to the range that ends there.
  const index = Number.isInteger(place) ? place - 1 : Math.floor(place);
  return `${border(index)}...${border(index + 1)}`;
}

function border(index: number): string {
  return (10 ** (lowest + index / perDecade)).toExponential(3).replace(/e([+-])(\d)$/, 'e$10$2');
}
