import test from 'ava';
import { keyOf, makeIndex } from './made.js';

const [pod, app] = [keyOf('pod'), keyOf('app')];

test('the hottest values come first: seen most often, then last, then by name', async (t) => {
  const { learn, browse, clock } = makeIndex();
  await learn(pod, ['a', 'b', 'c', 'd']);
  clock.advance(10);
  await learn(pod, ['d', 'c'], false);
  clock.advance(10);
  await learn(pod, ['e'], false);
  t.deepEqual(await browse(pod), ['c', 'd', 'e', 'a', 'b']);
  t.deepEqual(await browse(pod, { limit: 2, offset: 1 }), ['d', 'e']);
  t.deepEqual(await browse(pod, { search: 'E' }), ['e']);
});

test('a label is listed once all its values have been learnt, and what was learnt of it before counts', async (t) => {
  const { learn, browse, told } = makeIndex();
  await learn(pod, ['b'], false);
  t.is(await browse(pod), undefined);
  t.is(told.entries, 1);
  await learn(pod, ['a', 'b', 'c']);
  t.deepEqual(await browse(pod), ['b', 'a', 'c']);
});

test('a label without values is not indexed', async (t) => {
  const { learn, browse, told } = makeIndex();
  await learn(pod, []);
  t.is(await browse(pod), undefined);
  t.is(told.labels, 0);
});

test('tenants, credentials and labels have values of their own', async (t) => {
  const { learn, browse } = makeIndex();
  const others = [
    keyOf('pod', { tenantId: 'shop2' }),
    keyOf('pod', { credentials: 'f00' }),
    keyOf('Pod'),
    app,
  ];
  await learn(pod, ['a']);
  for (const other of others) t.is(await browse(other), undefined);
  for (const [number, other] of others.entries()) await learn(other, [`${number}`]);
  t.deepEqual(await browse(pod), ['a']);
  for (const [number, other] of others.entries()) t.deepEqual(await browse(other), [`${number}`]);
});

test('a tenant whose data lie elsewhere now has nothing of what lay there before', async (t) => {
  const { learn, browse, told } = makeIndex();
  await learn(pod, ['a']);
  t.is(await browse({ ...pod, owner: 'shop in account 2' }), undefined);
  t.is(told.labels, 0);
});

test('the labels that were browsed the longest ago make room, for more labels and for more bytes', async (t) => {
  const many = Array.from({ length: 2_000 }, (_, number) => `value ${number}`).sort();
  for (const [reason, options] of [
    ['labels', { maxLabels: 3 }],
    ['bytes', { maxBytes: 250_000 }],
  ] as const) {
    const { learn, browse, told } = makeIndex(options);
    for (const label of ['a', 'b', 'c']) await learn(keyOf(label), many);
    await browse(keyOf('a'));
    await learn(keyOf('d'), many);
    t.is(await browse(keyOf('b')), undefined);
    for (const label of ['a', 'c', 'd']) t.is((await browse(keyOf(label), { limit: 9 }))?.length, 9);
    t.deepEqual([...told.evicted], [[reason, 2_000]]);
    t.is(told.labels, 3);
    t.is(told.entries, 6_000);
  }
});

test('a label that alone takes more than all may is not kept, which is told', async (t) => {
  const { learn, browse, told } = makeIndex({ maxBytes: 20_000 });
  await learn(app, ['small']);
  await learn(pod, Array.from({ length: 5_000 }, (_, number) => `value ${number}`).sort());
  t.is(await browse(pod), undefined);
  t.deepEqual(await browse(app), ['small']);
  t.deepEqual(told.refused, ['pod']);
});

test('values beyond the bound of a label go, the coldest first, and are counted', async (t) => {
  const { learn, browse, told, clock } = makeIndex({ maxEntries: 3 });
  await learn(pod, ['a', 'b', 'c', 'd', 'e']);
  t.deepEqual(await browse(pod), ['a', 'b', 'c']);
  t.is(told.evicted.get('entries'), 2);
  clock.advance(10);
  await learn(pod, ['b', 'e'], false);
  t.deepEqual(await browse(pod), ['b', 'e', 'a']);
});

test('a purge drops what there is, of all or of one tenant, and what was asked for before it', async (t) => {
  const { index, learn, browse, told } = makeIndex();
  const other = keyOf('pod', { tenantId: 'other' });
  const before = index.generationOf(pod);
  await learn(pod, ['a']);
  await learn(other, ['b']);
  index.purge('shop');
  t.is(await browse(pod), undefined);
  t.deepEqual(await browse(other), ['b']);
  await index.learn(pod, ['a'], true, before);
  t.is(await browse(pod), undefined);
  const learning = learn(pod, ['a']);
  index.purge();
  await learning;
  t.is(await browse(pod), undefined);
  t.is(await browse(other), undefined);
  t.deepEqual([told.labels, told.entries, told.bytes], [0, 0, 0]);
});

test('a value takes less than 50 bytes beside its text, which capital letters double', async (t) => {
  const { learn, told } = makeIndex({ maxEntries: 1_000_000 });
  const many = Array.from({ length: 50_000 }, (_, number) => `pod-${String(number).padStart(6, '0')}`);
  await learn(pod, many);
  t.true(told.bytes / many.length < 10 + 50);
  await learn(
    app,
    many.map((value) => value.toUpperCase()),
  );
  t.true(told.bytes / many.length < 2 * (10 + 50) + 20);
});
