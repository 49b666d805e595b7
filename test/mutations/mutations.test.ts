/** The beginning of `npm run mutations`, in the same code; outside of deep runs the first file of each kind of another beginning. */
import test from 'ava';
import { isDeep } from '../setup/runs.js';
import { measure } from './measure.js';

test('mistakes in pipeline files are found, once, where they are, with the obvious fix; harmless changes are not', async (t) => {
  const kinds = new Set<string>();
  const figures = await measure(isDeep ? 11 : 14, 500, ({ kind }) => {
    const isFirst = !kinds.has(kind);
    kinds.add(kind);
    return isFirst || isDeep;
  });
  t.is(figures.faults + figures.harmless, isDeep ? 500 : kinds.size);
  t.is(figures.faults, isDeep ? 400 : 93);
  t.true(figures.areGood, `${String(figures)}\n${figures.misses.slice(0, 10).join('\n')}`);
});
