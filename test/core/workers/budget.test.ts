import test from 'ava';
import { FakeClock } from '../../../core/testing/index.js';
import { Budget } from '../../../core/workers/budget.js';

const take = (buckets: Budget, key: string, times: number): boolean[] =>
  Array.from({ length: times }, () => buckets.take(key));

test.serial('a bucket gives its burst at once and then the rate', (t) => {
  const clock = new FakeClock();
  const buckets = new Budget({ perSecond: 2, size: 3, clock });
  t.deepEqual(take(buckets, 'a', 4), [true, true, true, false]);
  clock.advance(500);
  t.deepEqual(take(buckets, 'a', 2), [true, false]);
  clock.advance(60_000);
  t.deepEqual(take(buckets, 'a', 4), [true, true, true, false]);
});

test.serial('refused requests do not use up what comes back', (t) => {
  const clock = new FakeClock();
  const buckets = new Budget({ perSecond: 1, size: 1, clock });
  t.true(buckets.take('a'));
  for (let step = 0; step < 9; step += 1) {
    clock.advance(100);
    t.false(buckets.take('a'));
  }
  clock.advance(101);
  t.true(buckets.take('a'));
});

test.serial('every key has a bucket of its own', (t) => {
  const buckets = new Budget({ perSecond: 1, size: 1, clock: new FakeClock() });
  t.true(buckets.take('a'));
  t.true(buckets.take('b'));
  t.false(buckets.take('a'));
});

test.serial('the number of buckets is bounded; the longest unused one goes first', (t) => {
  const buckets = new Budget({ perSecond: 1, size: 1, clock: new FakeClock(), maxAccounts: 2 });
  for (const key of ['a', 'b', 'a', 'c']) buckets.take(key);
  t.is(buckets.accounts, 2);
  t.false(buckets.take('a'));
  t.true(buckets.take('b'));
});

test.serial('idle buckets are dropped', (t) => {
  const clock = new FakeClock();
  const buckets = new Budget({ perSecond: 1, size: 1, clock });
  buckets.take('idle');
  clock.advance(6 * 60_000);
  buckets.take('busy');
  clock.advance(5 * 60_000);
  buckets.take('busy');
  t.is(buckets.accounts, 1);
});
