import { createHash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { Ring } from '../../../../plugins/peer-cache/peers/members.js';

const keys = Array.from({ length: 2_000 }, (_, at) => `tenant:query_range:${at}`);
const ownerOf = (ring: Ring, key: string): string => ring.ownersOf(key).next().value ?? '';
const members = fc.uniqueArray(
  fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.0.${a}.${b}:3100`),
  { minLength: 2, maxLength: 12 },
);

test.serial('a member that comes or goes moves the keys that it owns and no others', (t) => {
  fc.assert(
    fc.property(members, (all) => {
      const [changing = '', ...others] = all;
      const [without, withIt] = [new Ring(others), new Ring(all)];
      let moved = 0;
      for (const key of keys) {
        const [before, after] = [ownerOf(without, key), ownerOf(withIt, key)];
        if (after === changing) moved += 1;
        else if (after !== before) t.is(after, before);
      }
      // With 150 points per member, shares differ by some tenths, not by factors.
      t.true(
        moved > 0 && moved < (2 * keys.length) / all.length,
        `${moved} of ${keys.length} for ${all.length}`,
      );
    }),
    { endOnFailure: true, numRuns: 6 },
  );
});

test.serial('the order in which members are found, and how often, does not matter', (t) => {
  fc.assert(
    fc.property(members, fc.infiniteStream(fc.nat()), (all, chances) => {
      const shuffled = [...all, ...all].sort(() => ((chances.next().value ?? 0) % 3) - 1);
      const [a, b] = [new Ring(all), new Ring(shuffled)];
      for (const key of keys.slice(0, 40)) t.deepEqual([...a.ownersOf(key)], [...b.ownersOf(key)]);
    }),
    { endOnFailure: true, numRuns: 6 },
  );
});

test.serial('those behind the owner are those that would own the key without the ones before', (t) => {
  fc.assert(
    fc.property(members, (all) => {
      for (const key of keys.slice(0, 3)) {
        const order = [...new Ring(all).ownersOf(key)];
        t.is(order.length, all.length);
        for (const [place, owner] of order.entries()) t.is(ownerOf(new Ring(order.slice(place)), key), owner);
      }
    }),
    { endOnFailure: true, numRuns: 6 },
  );
});

test.serial(
  'the points are the first four bytes of SHA-256 of the address, a number sign and a number',
  (t) => {
    const hash = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0);
    const all = ['a:1', 'b:1', 'c:1'];
    const points = all
      .flatMap((member) => Array.from({ length: 150 }, (_, at) => ({ member, at: hash(`${member}#${at}`) })))
      .sort((a, b) => a.at - b.at);
    const ring = new Ring(all);
    for (const key of keys) {
      const expected = points.find(({ at }) => at >= hash(key)) ?? points[0];
      t.is(ownerOf(ring, key), expected?.member ?? '');
    }
  },
);
