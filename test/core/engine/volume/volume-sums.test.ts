import test from 'ava';
import { VolumeBuckets } from '../../../../core/engine/volume/volume-buckets.js';
import { VolumePieces } from '../../../../core/engine/volume/volume-pieces.js';
import { VolumeSums, type VolumeSumsOptions } from '../../../../core/engine/volume/volume.js';
import { LabelSet } from '../../../../core/base/label-set.js';

const kib = 1024;
const buckets = new VolumeBuckets({ startNs: 0n, endNs: 1000n }, 1001n, 1000n);
const shop = LabelSet.from([
  ['app', 'shop'],
  ['env', 'prod'],
]);
const cart = LabelSet.from([['app', 'cart']]);

function sum(
  options: Partial<VolumeSumsOptions>,
  ...pieces: readonly (readonly [LabelSet, number])[]
): readonly (readonly [labels: object, kib: number])[] {
  const sums = new VolumeSums({
    buckets,
    targets: 'all',
    required: [],
    aggregateBy: 'series',
    maxSeries: 0,
    ...options,
  });
  for (const [labels, size] of pieces)
    sums.add(labels, { firstNs: 0n, lastNs: 9n, entries: 5, bytes: size * kib });
  return sums
    .series(100)
    .map(({ labels, points }) => [Object.fromEntries(labels.labels), (points[0]?.value ?? 0) / kib] as const);
}

test('streams are summed by those of the wanted labels that they have, and left out without one that is required', (t) => {
  const pieces = [
    [shop, 3],
    [shop.with([['pod', 'b']]), 4],
    [cart, 9],
  ] as const;
  t.deepEqual(sum({ targets: new Set(['app', 'env']) }, ...pieces), [
    [{ app: 'cart' }, 9],
    [{ app: 'shop', env: 'prod' }, 7],
  ]);
  const targets = new Set(['env']);
  t.deepEqual(sum({ targets, required: ['env'] }, ...pieces), [[{ env: 'prod' }, 7]]);
  t.deepEqual(sum({ targets }, ...pieces), [
    [{}, 9],
    [{ env: 'prod' }, 7],
  ]);
});

test('volumes by label name count a stream under each of its names', (t) => {
  t.deepEqual(sum({ aggregateBy: 'labels' }, [shop, 3], [cart, 9]), [
    [{ app: '' }, 12],
    [{ env: '' }, 3],
  ]);
});

test('the biggest comes first, equal ones go by their labels', (t) => {
  const found = sum(
    { targets: new Set(['app']) },
    [shop, 2],
    [cart, 2],
    [LabelSet.from([['app', 'zoo']]), 5],
  );
  t.deepEqual(found, [
    [{ app: 'zoo' }, 5],
    [{ app: 'cart' }, 2],
    [{ app: 'shop' }, 2],
  ]);
});

test('more label sets than allowed are refused', (t) => {
  t.throws(() => sum({ maxSeries: 1 }, [shop, 1], [cart, 1]), {
    message: 'the query hit the max number of series limit (limit: 1 series)',
  });
  t.notThrows(() => sum({ maxSeries: 2 }, [shop, 1], [cart, 1]));
});

function gather(...pieces: readonly (readonly [LabelSet, cell: number, bytes: number])[]): VolumePieces {
  const gathered = new VolumePieces();
  for (const [labels, cell, bytes] of pieces) {
    const firstNs = BigInt(cell * 100);
    const piece = { firstNs, lastNs: firstNs + 50n, entries: 1, bytes, sharedBytes: 10 };
    gathered.add(labels, BigInt(cell), piece);
  }
  return gathered;
}

function drained(pieces: VolumePieces): readonly unknown[] {
  return [...pieces.drain()].map(([labels, { firstNs, lastNs, entries, bytes }]) => [
    labels.get('app'),
    firstNs,
    lastNs,
    entries,
    bytes,
  ]);
}

test('backend streams with the same labels are one piece, what they share is there once', (t) => {
  t.deepEqual(drained(gather([shop, 0, 20_000], [shop, 0, 500])), [['shop', 0n, 50n, 2, 20_510]]);
});

test('small pieces of a stream are put together until they are worth rounding', (t) => {
  t.deepEqual(drained(gather([cart, 2, 9000], [cart, 0, 9000], [cart, 1, 9000], [shop, 0, 100])), [
    ['cart', 0n, 250n, 3, 27_010],
    ['shop', 0n, 50n, 1, 110],
  ]);
  t.is(drained(gather([cart, 0, 20_000], [cart, 1, 20_000])).length, 2);
});

test('what was given is forgotten', (t) => {
  const pieces = gather([cart, 0, 1], [cart, 1, 1], [shop, 0, 1]);
  t.is(pieces.size, 3);
  t.is(drained(pieces).length, 2);
  t.is(pieces.size, 0);
  t.deepEqual(drained(pieces), []);
});
