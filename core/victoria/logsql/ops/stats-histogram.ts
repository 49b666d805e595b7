import { compareNatural } from '../eval/compare.js';
import { parseNumber } from '../numbers.js';
import type { Accumulator, ValuesReader } from './accumulator.js';

const perDecade = 18;
const lowest = -9;
const highest = 18;

/** `histogram`: counts in logarithmic ranges, 18 per power of ten, as a JSON array of `vmrange` and `hits`. */
export function histogramFactory(read: ValuesReader): () => Accumulator {
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
