/** A short `npm run mutations`, with the same code. */
import test from 'ava';
import { measure } from './measure.js';

test('mistakes in pipeline files are found, once, where they are, with the obvious fix; harmless changes are not', async (t) => {
  const figures = await measure(11, 500);
  t.is(figures.faults, 400);
  t.true(figures.areGood, `${String(figures)}\n${figures.misses.slice(0, 10).join('\n')}`);
});
