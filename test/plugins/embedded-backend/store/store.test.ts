import test from 'ava';
import fc from 'fast-check';

import { type ScanOrder, scan } from '../../../../plugins/embedded-backend/store/scan.js';
import { Store } from '../../../../plugins/embedded-backend/store/store.js';
import type { Stream } from '../../../../plugins/embedded-backend/store/stream.js';
import { makeTags, tagsText } from '../../../../plugins/embedded-backend/store/stream-tags.js';
import { quoteGo } from '../../../../core/base/label-set.js';

const TENANT = { accountId: 0, projectId: 0 };

function addRow(store: Store, app: string, timeNs: bigint, message: string): boolean {
  return store.push(store.stream(TENANT, makeTags([['app', app]])), {
    timeNs,
    names: ['_msg'],
    values: [message],
  });
}

interface Seen {
  readonly stream: Stream;
  readonly timeNs: bigint;
  readonly message: string;
}

function walk(store: Store, minNs: bigint, maxNs: bigint, order: ScanOrder): Seen[] {
  const seen: Seen[] = [];
  for (const { stream, view, from, to, step } of scan(store.streams(TENANT), { minNs, maxNs }, order)) {
    for (let i = from; i !== to; i += step) {
      seen.push({ stream, timeNs: view.times[i] ?? -1n, message: view.values[i]?.[0] ?? '' });
    }
  }
  return seen;
}

const rowsArbitrary = fc.array(
  fc.record({ app: fc.constantFrom('a', 'b', 'c'), time: fc.bigInt({ min: 0n, max: 40n }) }),
  { maxLength: 200 },
);

test('a scan in order gives every row of the range once, by time, stream and insertion', (t) => {
  fc.assert(
    fc.property(
      rowsArbitrary,
      fc.bigInt({ min: 0n, max: 40n }),
      fc.bigInt({ min: 0n, max: 40n }),
      (rows, min, max) => {
        const store = new Store(1e9);
        for (const [i, { app, time }] of rows.entries()) addRow(store, app, time, String(i));
        const ordinals = new Map(
          store.streams(TENANT).map((stream) => [stream.tags.get('app') ?? '', stream.ordinal]),
        );
        const wanted = rows
          .map(({ app, time }, i) => ({ app, time, i }))
          .filter(({ time }) => time >= min && time <= max)
          .sort(
            (x, y) =>
              Number(x.time - y.time) || (ordinals.get(x.app) ?? 0) - (ordinals.get(y.app) ?? 0) || x.i - y.i,
          )
          .map(({ i }) => String(i));
        const messages = (order: ScanOrder): string[] =>
          walk(store, min, max, order).map(({ message }) => message);
        t.deepEqual(messages('asc'), wanted);
        t.deepEqual(messages('desc'), wanted.toReversed());
        t.deepEqual(messages('any').sort(), wanted.toSorted());
      },
    ),
  );
});

test('late rows in full blocks are still found in time order', (t) => {
  const store = new Store(1e9);
  for (let i = 0; i < 5000; i++) addRow(store, 'a', BigInt((i * 7919) % 5000), String(i));
  const times = walk(store, 0n, 5000n, 'asc').map(({ timeNs }) => timeNs);
  t.is(times.length, 5000);
  t.true(times.every((time, i) => time === BigInt(i)));
});

test('the newest rows are reached without opening older blocks', (t) => {
  const store = new Store(1e9);
  for (let i = 0; i < 100_000; i++) addRow(store, 'a', BigInt(i), 'x');
  let handed = 0;
  for (const slice of scan(store.streams(TENANT), { minNs: 0n, maxNs: 100_000n }, 'desc')) {
    handed += Math.abs(slice.to - slice.from);
    if (handed >= 1000) break;
  }
  t.true(handed < 2000, `${handed} rows were handed out`);
});

test('a scan under way is not disturbed by late rows that force a sort', (t) => {
  const store = new Store(1e9);
  for (let i = 0; i < 1500; i++) addRow(store, 'a', BigInt(i + 10), String(i));
  const slices = scan(store.streams(TENANT), { minNs: 0n, maxNs: 10_000n }, 'asc');
  const messages: string[] = [];
  for (let next = slices.next(); next.done !== true; next = slices.next()) {
    const { view, from, to } = next.value;
    addRow(store, 'a', 1n, 'late');
    walk(store, 0n, 10_000n, 'asc');
    for (let i = from; i < to; i++) messages.push(view.values[i]?.[0] ?? '');
  }
  t.deepEqual(
    messages,
    Array.from({ length: 1500 }, (_, i) => String(i)),
  );
});

test('past the byte budget rows are refused and the stored ones stay readable', (t) => {
  const store = new Store(20_000);
  let accepted = 0;
  while (addRow(store, 'a', BigInt(accepted), 'm'.repeat(200)) && accepted < 10_000) accepted++;
  t.true(accepted > 10 && accepted < 200, `${accepted} rows`);
  t.is(walk(store, 0n, 10_000n, 'any').length, accepted);
  const [stream] = store.streams(TENANT);
  t.truthy(stream);
  if (stream !== undefined) store.remove(stream, (_stream, timeNs) => timeNs < 10n);
  t.true(addRow(store, 'a', 1n, 'again'), 'a deletion makes room');
});

test('tenants do not see each other and equal streams of both have ids that differ only in the tenant part', (t) => {
  const store = new Store(1e9);
  const tags = makeTags([['app', 'x']]);
  const one = store.stream({ accountId: 1, projectId: 2 }, tags);
  const two = store.stream({ accountId: 0xffffffff, projectId: 0 }, tags);
  store.push(one, { timeNs: 1n, names: ['_msg'], values: ['m'] });
  t.is(one.id.slice(0, 16), '0000000100000002');
  t.is(two.id.slice(0, 16), 'ffffffff00000000');
  t.is(one.id.slice(16), two.id.slice(16));
  t.deepEqual(store.tenants(), [{ accountId: 1, projectId: 2 }]);
});

test('stream texts sort the fields, leave empty ones out and quote as Go does', (t) => {
  t.is(
    tagsText(
      makeTags([
        ['b', '1'],
        ['a', 'x"y'],
        ['empty', ''],
      ]),
    ),
    '{a="x\\"y",b="1"}',
  );
  t.is(tagsText(makeTags([])), '{}');
  t.is(
    quoteGo('a\n\u0007\u0001\u00a0\u200b日本 \u{1f600}\u{e0001}'),
    '"a\\n\\a\\x01\\u00a0\\u200b日本 😀\\U000e0001"',
  );
});
