import test from 'ava';
import fc from 'fast-check';
import { doAll } from '../../../../core/base/pace/steps.js';
import { selectInSteps } from '../../../../core/logql/metric/states.js';

const number = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.double({ noNaN: true }),
  fc.constantFrom(Infinity, -Infinity),
);
const few = fc.array(number, { minLength: 1, maxLength: 300 });
const orders: Readonly<Record<string, (values: number[]) => number[]>> = {
  asGiven: (values) => values,
  ascending: (values) => values.sort((a, b) => a - b),
  descending: (values) => values.sort((a, b) => b - a),
  twice: (values) => [...values, ...values],
};

test('the value of a rank is the one that sorting brings there, and divides the others', (t) => {
  fc.assert(
    fc.property(few, fc.nat(), fc.constantFrom(...Object.keys(orders)), (given, chosen, order) => {
      const values = Float64Array.from(orders[order]?.(given) ?? given);
      const sorted = Float64Array.from(values).sort();
      const rank = chosen % values.length;
      doAll(selectInSteps(values, rank));
      const value = values[rank] ?? NaN;
      t.true(value === sorted[rank]);
      t.true(values.subarray(0, rank).every((one) => one <= value));
      t.true(values.subarray(rank).every((one) => one >= value));
      t.true(values.sort().every((one, index) => one === sorted[index]));
    }),
    { numRuns: 500 },
  );
});

/**
 * An order that is slow for a selection that divides by the median of the first, middle and last value: each value is chosen as late as
 * possible, and as small as its comparisons allow (McIlroy, A Killer Adversary for Quicksort).
 */
function slowOrder(size: number, rank: number): Float64Array {
  const open = size;
  const values = new Float64Array(size).fill(open);
  const at = Int32Array.from(values.keys());
  let next = 0;
  let candidate = -1;
  const choose = (one: number): void => {
    values[one] = next;
    next += 1;
  };
  const isLess = (a: number, b: number): boolean => {
    if (values[a] === open && values[b] === open) choose(a === candidate ? a : b);
    if (values[a] === open) candidate = a;
    else if (values[b] === open) candidate = b;
    return (values[a] ?? 0) < (values[b] ?? 0);
  };
  const least = (a: number, b: number): number => (isLess(a, b) ? a : b);
  const most = (a: number, b: number): number => (isLess(a, b) ? b : a);
  const item = (index: number): number => at[index] ?? 0;
  let [from, to] = [0, size - 1];
  while (to - from > 2) {
    const [a, b, c] = [item(from), item((from + to) >>> 1), item(to)];
    const pivot = most(least(a, b), least(most(a, b), c));
    let [left, right] = [from, to];
    while (left <= right) {
      while (item(left) !== pivot && isLess(item(left), pivot)) left += 1;
      while (item(right) !== pivot && isLess(pivot, item(right))) right -= 1;
      if (left > right) break;
      [at[left], at[right]] = [item(right), item(left)];
      left += 1;
      right -= 1;
    }
    if (rank <= right) to = right;
    else if (rank >= left) from = left;
    else break;
  }
  for (const [index, value] of values.entries()) if (value === open) choose(index);
  return values;
}

test('an order that is chosen to be slow takes no more than some looks at each value', (t) => {
  const size = 10_000;
  const rank = size / 2;
  const values = slowOrder(size, rank);
  let steps = 0;
  const selection = selectInSteps(values, rank);
  while (selection.next().done !== true) steps += 1;
  t.is(values[rank], rank);
  t.true(steps < 100, `${steps} steps`);
});
