import test from 'ava';
import { AnswerStore } from '../../../core/cache/answer-store.js';
import type { AnswerHit, AnswerTier } from '../../../core/cache/answer-tier.js';
import { makeHost } from '../../../core/testing/index.js';

const packed = Buffer.from('packed');
const minute = 60_000;

/** A tier that records its calls. With `shadow` it is a tier that moves values to their owner. */
function tier(
  told: string[],
  name: string,
  { shadow, has }: { shadow?: number; has?: AnswerHit } = {},
): AnswerTier {
  return {
    get: (key, forOthers) =>
      Promise.resolve(
        (told.push(`${name} get ${shown(key)}${forOthers === true ? ' for others' : ''}`), has),
      ),
    set: (key, _, ttlMs) => void told.push(`${name} set ${shown(key)} ${ttlMs}`),
    delete: () => Promise.resolve(),
    purge: () => Promise.resolve(),
    purgeBeginning: () => Promise.resolve(),
    giveUp: (key) => void told.push(`${name} give up ${shown(key)}`),
    used: (key) => void told.push(`${name} used ${shown(key)}`),
    ...(shadow === undefined ? {} : { shadowMs: () => shadow }),
  };
}

/** Cuts off the tenant and the format at the start of a key. */
const shown = (key: string): string => key.slice(key.lastIndexOf('t:'));

function make() {
  const host = makeHost({});
  const options = {
    cacheMax: 100,
    cacheMaxBytes: 1_000_000,
    compatCacheEnabled: false,
    compatCacheMaxPercent: 0,
  };
  return { host, store: new AnswerStore(options, host) };
}

test('what a tier brings to its home is kept for a while in memory, not by tiers in front, and told to all behind', async (t) => {
  const { host, store } = make();
  const told: string[] = [];
  store.addTier(tier(told, 'disk'), 'setup');
  store.addTier(tier(told, 'workers', { shadow: 30_000 }), 'setup');
  store.addTier(tier(told, 'peers', { shadow: 20_000 }), 'setup');
  store.addTier(tier(told, 'store'), 'setup');
  await store.set('t:a', packed, minute);
  t.deepEqual(told, ['workers set t:a 60000', 'peers set t:a 60000', 'store set t:a 60000']);
  t.true((await store.get('t:a'))?.equals(packed));
  host.clock.advance(20_000);
  t.is(await store.get('t:a'), undefined);
});

test('an expired answer is kept for those who take it as it is, and is none for all others', async (t) => {
  const { host, store } = make();
  store.keepExpired(10 * minute);
  await store.set('t:a', packed, minute);
  host.clock.advance(minute - 1);
  t.true((await store.get('t:a'))?.equals(packed));
  t.like(await store.find('t:a'), { expiredMs: -1 });
  host.clock.advance(1);
  t.is(await store.get('t:a'), undefined);
  t.like(await store.find('t:a'), { packed, expiredMs: 0 });
  host.clock.advance(10 * minute);
  t.is(await store.find('t:a'), undefined);
});

test('where this process is the home all tiers get it, and what cannot be kept is given up', async (t) => {
  const { store } = make();
  const told: string[] = [];
  store.addTier(tier(told, 'disk'), 'setup');
  store.addTier(tier(told, 'peers'), 'setup');
  await store.set('t:a', packed, minute);
  t.deepEqual(told.splice(0), ['disk set t:a 60000', 'peers set t:a 60000']);
  const generation = store.generationOf('t:a');
  await store.purge('t');
  await store.set('t:a', packed, minute, generation);
  await store.set('t:b', packed, 0);
  store.giveUp('t:c');
  t.deepEqual(
    told.filter((line) => line.startsWith('peers')),
    ['peers give up t:a', 'peers give up t:b', 'peers give up t:c'],
  );
});

test('what others send is taken by its key, not over something fresher, and not from before a purge', async (t) => {
  const { host, store } = make();
  const told: string[] = [];
  store.addTier(tier(told, 'disk'), 'setup');
  let asked = '';
  const peers = tier(told, 'peers');
  const front = store.addTier({ ...peers, get: (key) => Promise.resolve(void (asked = key)) }, 'setup');
  t.is(await store.get('t:a'), undefined);
  const hit = { packed, leftMs: minute, ageMs: 0 };
  t.true(front.put(asked, hit, false));
  t.true((await store.get('t:a'))?.equals(packed));
  t.deepEqual(told.splice(0), ['disk get t:a', 'disk used t:a', 'peers used t:a']);
  t.true(front.put(asked, { ...hit, packed: Buffer.from('older'), leftMs: 10 }, true));
  t.true((await store.get('t:a'))?.equals(packed));
  t.like(await front.find(asked), { leftMs: minute });
  t.deepEqual(front.peek(asked), { leftMs: minute, bytes: packed.byteLength });
  host.clock.advance(1_000);
  await store.purge('t');
  told.length = 0;
  t.is(await front.find(asked), undefined);
  t.deepEqual(told, ['disk get t:a for others']);
  t.is(front.peek(asked), undefined);
  host.clock.advance(1_000);
  t.false(front.put(asked, { ...hit, ageMs: 1_500 }, true));
  t.true(front.put(asked, { ...hit, ageMs: 500 }, true));
  t.deepEqual(
    told.filter((line) => line.includes(' set ')),
    ['disk set t:a 60000'],
  );
  t.false(front.put(asked, { ...hit, leftMs: 0 }, true));
  t.false(front.put(asked, { ...hit, packed: Buffer.alloc(front.largest + 1) }, true));
});

test('keys of another setup, or forged ones, stand for themselves', async (t) => {
  const { store } = make();
  let asked = '';
  const peers = tier([], 'peers');
  const front = store.addTier({ ...peers, get: (key) => Promise.resolve(void (asked = key)) }, 'setup');
  await store.get('t:a');
  for (const key of [asked.replace('setup', 'other'), asked.replace(/t:a$/, 'u:a')]) {
    t.not(key, asked);
    t.true(front.put(key, { packed, leftMs: minute, ageMs: 0 }, true));
    t.like(await front.find(key), { packed });
  }
  t.is(await store.get('t:a'), undefined);
  t.is(await store.get('u:a'), undefined);
});

test('tiers are not asked for what they never have', async (t) => {
  const { store } = make();
  const told: string[] = [];
  store.addTier({ ...tier(told, 'disk'), leastTtlMs: 30_000 }, 'setup');
  store.addTier({ ...tier(told, 'peers'), leastTtlMs: 5_000 }, 'setup');
  await store.find('t:a', 2_000);
  t.deepEqual(told, []);
  await store.find('t:a', 5_000);
  t.deepEqual(told, ['disk get t:a', 'peers get t:a']);
});
