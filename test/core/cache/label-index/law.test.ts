import { rm } from 'node:fs/promises';
import test from 'ava';
import fc from 'fast-check';
import { byRank, type RankedName } from '../../../../core/wire/answer/rank.js';
import type { Browse } from '../../../../core/wire/api/request.js';
import { keyOf, makeIndex, openFile, pathFor, type Made } from './made.js';

const pod = keyOf('pod');

/** Values with common parts, in upper and lower case and several scripts, and names of properties that every object has. */
const value = fc.oneof(
  fc.nat(2_000).map((number) => `pod-${number}`),
  fc.nat(300).map((number) => `Pod-${number.toString(36)}-ÄÖ`),
  fc.constantFrom(
    '__proto__',
    'constructor',
    '17',
    'İstanbul',
    'ΣΑΣ',
    '日本',
    '😀 a',
    '"quoted"',
    'a\\b',
    ' ',
    '\n',
  ),
  fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
);
const values = fc.oneof(
  { arbitrary: fc.uniqueArray(value, { maxLength: 30 }), weight: 4 },
  fc
    .record({ from: fc.nat(1_500), count: fc.nat(900) })
    .map(({ from, count }) => Array.from({ length: count }, (_, number) => `pod-${from + number}`).sort()),
);
interface Update {
  readonly values: readonly string[];
  readonly afterMs: number;
}
const updates: fc.Arbitrary<readonly Update[]> = fc.array(fc.record({ values, afterMs: fc.nat(3) }), {
  minLength: 1,
  maxLength: 8,
});
const browse: fc.Arbitrary<Browse> = fc.record(
  {
    limit: fc.oneof(fc.nat(5), fc.nat(3_000)),
    offset: fc.oneof(fc.nat(5), fc.nat(1_500)),
    search: fc.oneof(fc.constantFrom('POD-1', 'od', 'ä', 'i', 'σ', '-', 'none of them'), value),
  },
  { requiredKeys: [] },
);

/** A plain model of the index: counts in a map, sorts everything and cuts to the limit after each update. */
class Model {
  ranked: RankedName[] = [];

  learn(listed: readonly string[], nowMs: number, maxEntries: number): void {
    const all = new Map(this.ranked.map((entry) => [entry.value, entry]));
    for (const each of listed)
      all.set(each, { value: each, seen: (all.get(each)?.seen ?? 0) + 1, lastMs: nowMs });
    this.ranked = [...all.values()].sort(byRank).slice(0, maxEntries);
  }

  page({ limit, offset = 0, search = '' }: Browse): readonly string[] {
    const found = this.ranked.filter((entry) => entry.value.toLowerCase().includes(search.toLowerCase()));
    return found.map((entry) => entry.value).slice(offset, limit === undefined ? undefined : offset + limit);
  }
}

async function learnAll(made: Made, all: readonly Update[], maxEntries = 100_000): Promise<Model> {
  const model = new Model();
  for (const each of all) {
    made.clock.advance(each.afterMs);
    await made.learn(pod, each.values);
    model.learn(each.values, made.clock.nowMs(), maxEntries);
  }
  return model;
}

test('the index lists what has been indexed as a direct listing of it would, whatever page and search', async (t) => {
  await fc.assert(
    fc.asyncProperty(updates, fc.array(browse, { minLength: 1, maxLength: 5 }), async (all, browses) => {
      const made = makeIndex();
      const model = await learnAll(made, all);
      for (const each of [{}, ...browses])
        t.deepEqual((await made.browse(pod, each)) ?? [], model.page(each), JSON.stringify(each));
      t.is(made.told.entries, model.ranked.length);
    }),
    { numRuns: 80, endOnFailure: true },
  );
});

test('of more values than the bound the hottest are listed, and those that go begin anew', async (t) => {
  await fc.assert(
    fc.asyncProperty(updates, browse, fc.integer({ min: 1, max: 700 }), async (all, each, maxEntries) => {
      const made = makeIndex({ maxEntries });
      const model = await learnAll(made, all, maxEntries);
      t.deepEqual((await made.browse(pod)) ?? [], model.page({}));
      t.deepEqual((await made.browse(pod, each)) ?? [], model.page(each));
    }),
    { numRuns: 80, endOnFailure: true },
  );
});

test('what is restored is what was saved, and goes on like it', async (t) => {
  const path = await pathFor(t);
  await fc.assert(
    fc.asyncProperty(updates, updates, async (all, more) => {
      await rm(path, { force: true });
      const made = makeIndex();
      const { file } = await openFile(made, path);
      const model = await learnAll(made, all);
      await file.stop();
      const other = makeIndex({}, made.clock);
      const { file: restored, host } = await openFile(other, path);
      t.deepEqual((await other.browse(pod)) ?? [], model.page({}));
      const signal = new AbortController().signal;
      const whole = async ({ index }: Made) => index.browse(pod, {}, signal);
      t.deepEqual(await whole(other), await whole(made));
      for (const each of more) {
        made.clock.advance(each.afterMs);
        await made.learn(pod, each.values);
        await other.learn(pod, each.values);
      }
      t.deepEqual(await whole(other), await whole(made));
      t.true(host.records.every(({ level }) => level === 'info'));
      await restored.stop();
    }),
    { numRuns: 40, endOnFailure: true },
  );
});

test('what is learnt and browsed at once is seen as before or after, and counted', async (t) => {
  const made = makeIndex();
  const some = Array.from({ length: 3_000 }, (_, number) => `pod-${String(number).padStart(4, '0')}`);
  await made.learn(pod, some);
  const pages = await Promise.all(
    [1, 2, 3, 4].flatMap((each) => [
      made.learn(pod, some.slice(each * 100, each * 300)).then(() => undefined),
      made.browse(pod),
    ]),
  );
  for (const page of pages) if (page !== undefined) t.deepEqual([...page].sort(), some);
  const page = await made.index.browse(pod, { limit: 1_000, search: 'pod-04' }, new AbortController().signal);
  // All values were listed once at the start. Of the four listings only the first, which ends at 299, lacks 400 to 599.
  t.is(page?.heat[0]?.seen, 4);
});
