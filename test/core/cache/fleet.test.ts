import test from 'ava';
import { Fleet } from '../../../core/cache/fleet.js';

test('those who ask for a snapshot at once get the same, and nothing when some of it is purged meanwhile', async (t) => {
  const fleet = new Fleet();
  const made: ((bytes: Buffer) => void)[] = [];
  fleet.offer('x', () => new Promise((resolve) => made.push(resolve)));
  t.deepEqual([fleet.hasOffer('x'), fleet.hasOffer('y')], [true, false]);
  const old = [fleet.offered('x'), fleet.offered('x')];
  t.is(made.length, 1);
  fleet.withdraw('x');
  const next = fleet.offered('x');
  t.is(made.length, 2);
  made[0]?.(Buffer.from('old'));
  made[1]?.(Buffer.from('next'));
  t.deepEqual(await Promise.all(old), [undefined, undefined]);
  t.is((await next)?.toString(), 'next');
  void fleet.offered('x');
  t.is(made.length, 3, 'each time anew');
});
