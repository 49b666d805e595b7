import test from 'ava';
import fc from 'fast-check';
import { editDistance, suggest } from '../../../../core/kernel/options/index.js';

test('the nearest word is suggested, also when letters are swapped or case differs', (t) => {
  t.is(suggest('brust', ['rate', 'burst', 'bust-up']), 'burst');
  t.is(suggest('Burst', ['rate', 'burst']), 'burst');
  t.is(suggest('max-lnes', ['max-lines', 'max-bytes']), 'max-lines');
});

test('nothing is suggested when no word is near', (t) => {
  t.is(suggest('zebra', ['burst', 'rate']), undefined);
  t.is(suggest('x', []), undefined);
});

test('the distance of two words is symmetric, zero only for equal ones and at most the longer length', (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      const distance = editDistance(a, b);
      t.is(distance, editDistance(b, a));
      t.is(distance === 0, a === b);
      t.true(distance <= Math.max(a.length, b.length));
    }),
  );
});
