import test from 'ava';
import { textOrder, timeOrder } from '../../../core/base/order.js';

test('texts are ordered by code units, and equal ones are equal', (t) => {
  t.deepEqual(['b', 'a', '', 'B'].sort(textOrder), ['', 'B', 'a', 'b']);
  t.is(textOrder('a', 'a'), 0);
});

test('times are ordered beyond the range of numbers, and equal ones are equal', (t) => {
  const late = 1_793_491_200_000_000_001n;
  t.deepEqual([late, 2n, late - 1n].sort(timeOrder), [2n, late - 1n, late]);
  t.is(timeOrder(late, late), 0);
});
