import test from 'ava';
import { reloadLoop } from './loop.js';
import { faultsOf } from './verdict.js';

test.serial('reloads under load fail no request, break no tail and leave nothing behind', async (t) => {
  const figures = await reloadLoop({ reloads: 25, seed: 7, loops: 2, tails: 5 });
  t.deepEqual(faultsOf(figures), []);
  t.true(figures.swapped > 15, String(figures.swapped));
  t.true(figures.refused > 0);
  t.true(figures.answers > 0);
});
