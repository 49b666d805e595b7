import test from 'ava';
import fc from 'fast-check';
import { stretchesOf } from '../../../plugins/response-shape/metric-distinct.js';

const hourNs = 3_600_000_000_000n;

test('stretches follow each other from end to end, and whole ones begin at whole hours', (t) => {
  const times = fc.bigInt(0n, 3000n * hourNs);
  fc.assert(
    fc.property(times, times, (a, b) => {
      const range = a < b ? { startNs: a, endNs: b } : { startNs: b, endNs: a + 1n };
      const stretches = stretchesOf(range);
      t.is(stretches[0]?.startNs, range.startNs);
      t.is(stretches.at(-1)?.endNs, range.endNs);
      t.true(stretches.length <= 16);
      for (const [index, { startNs, endNs, isWhole }] of stretches.entries()) {
        t.true(startNs < endNs);
        if (index > 0) t.is(stretches[index - 1]?.endNs, startNs);
        if (isWhole) t.is(startNs % hourNs, 0n);
      }
    }),
  );
});
