import test from 'ava';
import fc from 'fast-check';
import { evaluate, instant, range, samplesOf, valuesBy, type ShortEntry } from './run-query.js';

/** Entries whose values are their numbers of bytes. */
function bytes(
  counts: Readonly<Record<string, number>>,
  labels: Readonly<Record<string, string>> = {},
): ShortEntry[] {
  return Object.entries(counts).map(([pod, count]) => [5, 'x'.repeat(count), { pod, ...labels }]);
}

const inner = 'bytes_over_time({app="a"}[10s])';
const four = [...bytes({ p: 1, q: 3 }, { zone: 'eu' }), ...bytes({ r: 5, s: 7 }, { zone: 'us' })];

for (const [op, all, eu, us] of [
  ['sum', 16, 4, 12],
  ['avg', 4, 2, 6],
  ['min', 1, 1, 5],
  ['max', 7, 3, 7],
  ['count', 4, 2, 2],
  ['stdvar', 5, 1, 1],
  ['stddev', Math.sqrt(5), 1, 1],
] as const) {
  test(`${op} of 1, 3, 5 and 7: of all, by label and without labels`, async (t) => {
    const at = (query: string): Promise<unknown> => samplesOf(query, four, instant(10));
    t.deepEqual(await at(`${op}(${inner})`), { '{}': { 10: all } });
    t.deepEqual(await at(`${op} by () (${inner})`), { '{}': { 10: all } });
    const byZone = { '{zone="eu"}': { 10: eu }, '{zone="us"}': { 10: us } };
    t.deepEqual(await at(`${op} by (zone) (${inner})`), byZone);
    t.deepEqual(await at(`${op} without (pod, app) (${inner})`), byZone);
    t.deepEqual(await at(`${op} by (nothing) (${inner})`), { '{}': { 10: all } });
    t.deepEqual(await at(`${op} by (zone) (${inner} > 100)`), {});
  });
}

test('one infinite value does not vary', async (t) => {
  const alone: readonly ShortEntry[] = [[5, 'v=inf']];
  for (const op of ['stddev', 'stdvar'])
    t.deepEqual(
      await samplesOf(`${op}(sum_over_time({app="a"} | logfmt | unwrap v [10s]))`, alone, instant(10)),
      { '{}': { 10: 0 } },
    );
});

test('a group has samples where one of its series has', async (t) => {
  const entries: readonly ShortEntry[] = [
    [5, 'xx', { pod: 'p' }],
    [25, 'x', { pod: 'q' }],
    [26, 'xxx', { pod: 'r' }],
  ];
  t.deepEqual(await samplesOf(`max(${inner})`, entries, range(10, 40, 10)), { '{}': { 10: 2, 30: 3 } });
  t.deepEqual(await samplesOf(`avg(${inner})`, entries, range(10, 40, 10)), { '{}': { 10: 2, 30: 2 } });
});

test('topk and bottomk choose series, in groups of their own, and leave their labels alone', async (t) => {
  t.deepEqual(await valuesBy('pod', `topk(2, ${inner})`, four), [
    ['r', 5],
    ['s', 7],
  ]);
  t.deepEqual(await valuesBy('pod', `bottomk(1, ${inner})`, four), [['p', 1]]);
  t.deepEqual(await valuesBy('pod', `topk(9, ${inner})`, four).then((all) => all.length), 4);
  t.deepEqual(await valuesBy('pod', `topk by (zone) (1, ${inner})`, four), [
    ['q', 3],
    ['s', 7],
  ]);
  t.deepEqual(await valuesBy('pod', `bottomk without (pod) (1, ${inner})`, four), [
    ['p', 1],
    ['r', 5],
  ]);
});

test('topk chooses anew at every step', async (t) => {
  const entries: readonly ShortEntry[] = [
    [5, 'xx', { pod: 'p' }],
    [5, 'x', { pod: 'q' }],
    [15, 'x', { pod: 'p' }],
    [15, 'xx', { pod: 'q' }],
    [25, 'x', { pod: 'q' }],
  ];
  t.deepEqual(await samplesOf(`topk(1, sum by (pod) (${inner}))`, entries, range(10, 30, 10)), {
    '{pod="p"}': { 10: 2 },
    '{pod="q"}': { 20: 2, 30: 1 },
  });
});

test('of equal series topk takes the first by labels, and NaN only when nothing else is left', async (t) => {
  t.deepEqual(await valuesBy('pod', `topk(2, ${inner})`, bytes({ s: 3, q: 3, r: 3 })), [
    ['q', 3],
    ['r', 3],
  ]);
  // 0 / 0 for p.
  const nan = `(${inner} - 1) / (${inner} - 1)`;
  t.deepEqual(await valuesBy('pod', `bottomk(2, ${nan})`, four.slice(0, 2)), [
    ['p', NaN],
    ['q', 1],
  ]);
  t.deepEqual(await valuesBy('pod', `topk(1, ${nan})`, four.slice(0, 2)), [['q', 1]]);
});

test('sort orders an instant answer, whatever stands around; without it labels do', async (t) => {
  const entries = bytes({ a: 2, b: 9, c: 1 });
  t.deepEqual(
    (await valuesBy('pod', `sort(${inner})`, entries)).map(([pod]) => pod),
    ['c', 'a', 'b'],
  );
  t.deepEqual(
    (await valuesBy('pod', `sort_desc(${inner}) * 2`, entries)).map(([, value]) => value),
    [18, 4, 2],
  );
  t.deepEqual(
    (await valuesBy('pod', inner, entries)).map(([pod]) => pod),
    ['a', 'b', 'c'],
  );
  t.deepEqual(
    (await valuesBy('pod', `sort_desc(${inner} ^ 0)`, bytes({ b: 1, a: 2 }))).map(([pod]) => pod),
    ['a', 'b'],
  );
});

test('the order of a range answer is that of labels, sorted or not', async (t) => {
  const result = await evaluate(`sort_desc(${inner})`, bytes({ a: 1, b: 2 }), range(10, 10, 10));
  t.deepEqual(result.kind === 'matrix' && result.series.map(({ labels }) => labels.get('pod')), ['a', 'b']);
});

test('sums of groups add up to the sum of all, and topk is a part of all', async (t) => {
  const anyEntries = fc.array(
    fc.record({
      at: fc.integer({ min: 1, max: 40 }),
      pod: fc.constantFrom('p', 'q', 'r'),
      zone: fc.constantFrom('e', 'u'),
    }),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(anyEntries, fc.integer({ min: 1, max: 4 }), async (chosen, k) => {
      const entries = chosen.map(({ at, pod, zone }): ShortEntry => [at, 'x'.repeat(at), { pod, zone }]);
      const grid = range(10, 40, 10);
      const whole = await samplesOf(`sum(${inner})`, entries, grid);
      t.deepEqual(await samplesOf(`sum(sum by (pod) (${inner}))`, entries, grid), whole);
      t.deepEqual(await samplesOf(`sum(max without () (${inner}))`, entries, grid), whole);
      const all = await samplesOf(inner, entries, grid);
      const top = await samplesOf(`topk(${k}, ${inner})`, entries, grid);
      for (const [series, points] of Object.entries(top)) {
        for (const [at, value] of Object.entries(points)) t.is(all[series]?.[Number(at)], value);
      }
      for (const at of [10, 20, 30, 40]) {
        const values = Object.values(all).flatMap((points) => points[at] ?? []);
        const chosenValues = Object.values(top).flatMap((points) => points[at] ?? []);
        const best = values.sort((a, b) => b - a).slice(0, k);
        t.deepEqual(
          chosenValues.sort((a, b) => b - a),
          best,
        );
      }
    }),
    { numRuns: 50 },
  );
});
