import { formatFloatPlain } from '../../../../core/base/time/index.js';
import { compareNatural } from '../../../../core/victoria/logsql/eval/compare.js';
import { parseNumber, parsePlain } from '../../../../core/victoria/logsql/numbers.js';
import {
  valuesReader,
  type Accumulator,
  type ValuesReader,
} from '../../../../core/victoria/logsql/ops/accumulator.js';
import {
  accumulatorFactory,
  countPresent,
  type StatsSettings,
} from '../../../../core/victoria/logsql/ops/stats-functions.js';
import type { EmbeddedFunction } from '../ast.js';
import { edgeFactory, jsonValuesFactory, quantileFactory, uniqValuesFactory } from './stats-order.js';

/**
 * Prepares a function; the returned factory makes one accumulator per group.
 * @param rateSeconds the divisor of rates in seconds; undefined means no division
 */
export function embeddedFactory(
  func: EmbeddedFunction,
  settings: StatsSettings,
  rateSeconds: number | undefined,
): () => Accumulator {
  const read = valuesReader(func.fields);
  const { budget } = settings;
  switch (func.name) {
    case 'count_empty':
      return countEmpty(read);
    case 'rate':
      return perSecond(
        accumulatorFactory({ ...func, name: 'count', fields: [{ kind: 'prefix', prefix: '' }] }, settings),
        rateSeconds,
      );
    case 'rate_sum':
      return perSecond(accumulatorFactory({ ...func, name: 'sum' }, settings), rateSeconds);
    case 'stddev':
      return spreadFactory(read);
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
    case 'json_values':
      return jsonValuesFactory(func, budget);
    case 'histogram':
      return histogramFactory(read);
    default:
      return accumulatorFactory({ ...func, name: func.name }, settings);
  }
}

function perSecond(create: () => Accumulator, seconds: number | undefined): () => Accumulator {
  if (seconds === undefined || seconds <= 0) return create;
  return () => {
    const total = create();
    return {
      add: (row) => total.add(row),
      result: () => formatFloatPlain(Number(total.result()) / seconds),
    };
  };
}

// Counts rows without a value in any of the fields.
function countEmpty(read: ValuesReader): () => Accumulator {
  const create = countPresent(read);
  return () => {
    const present = create();
    let rows = 0;
    return {
      add(row) {
        present.add(row);
        rows += 1;
      },
      result: () => `${rows - Number(present.result())}`,
    };
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
