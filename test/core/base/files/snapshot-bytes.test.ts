import test from 'ava';
import fc from 'fast-check';
import { readSnapshotBytes, snapshotBytes } from '../../../../core/base/files/snapshot-bytes.js';

const format = { version: 1, member: 'things', depth: 2 } as const;
const things = fc.uniqueArray(fc.tuple(fc.string({ maxLength: 3 }), fc.string({ maxLength: 30 })), {
  selector: (names) => JSON.stringify(names),
  maxLength: 60,
});

test('a snapshot in memory is never larger than it may be, holds groups as a whole, and is read as it was', async (t) => {
  await fc.assert(
    fc.asyncProperty(things, fc.integer({ min: 200, max: 8_000 }), async (all, largest) => {
      const sorted = all.sort(([a], [b]) => (a < b ? -1 : 1));
      const entries = sorted.map((names, at) => ({ names, json: `{"at":${at}}` }));
      const others = { beside: 'x' };
      const bytes = await snapshotBytes(format, { savedAtMs: 5, largest, others }, entries);
      const read: (readonly [string, unknown])[] = [];
      const members = new Map<string, unknown>();
      if (bytes !== undefined) {
        t.true(bytes.byteLength <= largest, `${bytes.byteLength} of ${largest}`);
        const add = (names: readonly string[], value: unknown): void =>
          void read.push([JSON.stringify(names), value]);
        await readSnapshotBytes(format, bytes, add, new AbortController().signal, { others: members });
        t.is(members.get('beside'), 'x');
      }
      const whole = await snapshotBytes(format, { savedAtMs: 5, largest: 100_000, others }, entries);
      if (whole !== undefined && whole.byteLength + 2_000 < largest) t.is(read.length, all.length);
      t.is(whole === undefined, all.length === 0);
      const groups = new Set(read.map(([names]) => (JSON.parse(names) as readonly string[])[0]));
      const wanted = entries.filter(({ names: [first] }) => groups.has(first));
      t.deepEqual(
        read,
        wanted.map(({ names, json }) => [JSON.stringify(names), JSON.parse(json) as unknown]),
      );
    }),
    { endOnFailure: true },
  );
});
