import test from 'ava';
import fc from 'fast-check';
import type { Cost } from '../../../../core/base/trace.js';
import type { ReadStrategy } from '../../../../core/engine/metric/context.js';
import { decline, isDeclined, millisecondsOf } from '../../../../core/engine/metric/cost.js';
import { wholeRowsStrategy } from '../../../../core/engine/metric/rows.js';
import { strategies } from '../../../../core/engine/metric/strategies.js';
import { deepRuns } from '../../../setup/runs.js';
import { MetricStore, rangeRequest, valuesOf, type StoredEntry } from './metric-store.js';

const base = 1793491200000000000n;
const second = 1_000_000_000n;

let store: MetricStore;
test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

const names = strategies.map(({ name }) => name);

/** The behaviour of a fake strategy: it is excluded, it is tried and declines, or it reads rows. */
interface Made {
  readonly way: 'out' | 'declines' | 'reads';
  readonly scannedRows: number | undefined;
}

const made: fc.Arbitrary<readonly Made[]> = fc.array(
  fc.record({
    way: fc.constantFrom('out', 'declines', 'reads'),
    scannedRows: fc.option(fc.integer({ min: 0, max: 1e9 }), { nil: undefined }),
  }),
  { minLength: names.length - 1, maxLength: names.length - 1 },
);

function costOf({ scannedRows }: Made): Cost {
  return {
    ...{ calls: 3, scannedRows, splitsLines: false, proofRows: 0 },
    ...{ sends: 'rows', sentRows: 10, sentBytes: 1000 },
  };
}

test('a strategy that is out is not run, and of the others the cheapest is tried first', async (t) => {
  await store.push(72_001, [{ ns: base + second, stream: { app: 'a' }, line: 'x' }]);
  const request = rangeRequest(
    'sum(count_over_time({app="a"}[60s]))',
    base,
    base + 60n * second,
    60n * second,
  );
  await fc.assert(
    fc.asyncProperty(made, async (all) => {
      const tried: number[] = [];
      // The last strategy can always read and costs the most.
      const whole = [...all, { way: 'reads', scannedRows: 1e12 } as const];
      const ways = whole.map((one, index): ReadStrategy => {
        const { name = 'rows' } = strategies[index] ?? {};
        return {
          ...wholeRowsStrategy,
          name,
          estimate: (leaf, known) => {
            const real = wholeRowsStrategy.estimate(leaf, known);
            if (one.way === 'out' || isDeclined(real)) return decline('not-countable');
            return {
              cost: costOf(one),
              read: (...asked) => {
                tried.push(index);
                return one.way === 'reads' ? real.read(...asked) : Promise.resolve(decline('row-labels'));
              },
            };
          },
        };
      });
      const { answer, tried: told } = await store.run(request, { account: 72_001, strategies: ways });
      t.deepEqual(Object.values(valuesOf(answer)), [1]);
      t.true(tried.every((index) => whole[index]?.way !== 'out'));
      t.is(whole[tried.at(-1) ?? -1]?.way, 'reads');
      t.true(tried.slice(0, -1).every((index) => whole[index]?.way === 'declines'));
      t.true(told.length >= tried.length);
      const costs = whole.map((one) => millisecondsOf(costOf(one)));
      const known = tried.flatMap((index) => costs[index] ?? []);
      t.deepEqual(
        known,
        known.toSorted((a, b) => a - b),
      );
      // No strategy that was not tried is known to be cheaper.
      const chosen = costs[tried.at(-1) ?? -1] ?? Infinity;
      for (const [index, cost = Infinity] of costs.entries())
        if (whole[index]?.way !== 'out' && !tried.includes(index))
          t.true(chosen === Infinity || cost >= chosen);
      // Strategies of unknown cost keep their order.
      const unknown = tried.filter((index) => costs[index] === undefined);
      t.deepEqual(
        unknown,
        unknown.toSorted((a, b) => a - b),
      );
    }),
    { numRuns: deepRuns(8, 20) },
  );
});

function lines(from: number, count: number): readonly StoredEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    ns: base + BigInt(from + index) * 1_000_000n,
    stream: { app: 'a' },
    line: `{"status":${index % 3},"user":"${'x'.repeat(100)}"}`,
  }));
}

test('few lines of JSON are read as rows once it is known how many they are, and counted when they have become many', async (t) => {
  const account = 72_002;
  const request = rangeRequest(
    'sum by (status) (count_over_time({app="a"} | json [60s]))',
    base,
    base + 60n * second,
    60n * second,
  );
  const run = async (): Promise<{ readonly tried: readonly string[]; readonly sum: number }> => {
    const { answer, tried } = await store.run(request, { account, strategies });
    return { tried, sum: Object.values(valuesOf(answer)).reduce((all, one) => all + one, 0) };
  };
  await store.push(account, lines(1, 300));
  t.deepEqual(await run(), { tried: ['statistics:ran'], sum: 300 });
  t.deepEqual(await run(), { tried: ['rows:ran'], sum: 300 });
  await store.push(account, lines(1000, 6000));
  const many = ['rows:more-rows', 'statistics:ran'];
  t.deepEqual(await run(), { tried: many, sum: 6300 });
  t.deepEqual(await run(), { tried: ['statistics:ran'], sum: 6300 });
});

test('rows are read for their cost only where the limit of rows is far', async (t) => {
  const account = 72_003;
  const text = 'sum by (status) (count_over_time({app="a"} | json [60s]))';
  const request = rangeRequest(text, base, base + 60n * second, 60n * second);
  await store.push(account, lines(1, 300));
  for (let time = 0; time < 2; time += 1) {
    const { tried } = await store.run(request, { account, strategies, maxRows: 2000 });
    t.is(tried.at(-1), 'statistics:ran');
  }
  const { tried } = await store.run(request, { account, strategies, maxRows: 5000 });
  t.is(tried.at(-1), 'rows:ran');
});

test('an empty range does not change the estimated cost of reading rows in another range', async (t) => {
  const account = 72_005;
  const text = 'sum by (status) (count_over_time({app="a"} | json [60s]))';
  await store.push(account, lines(1, 6000));
  const run = async (startNs: bigint): Promise<string | undefined> => {
    const request = rangeRequest(text, startNs, startNs + 60n * second, 60n * second);
    return (await store.run(request, { account, strategies })).tried.at(-1);
  };
  t.is(await run(base), 'statistics:ran');
  for (let time = 0; time < 3; time += 1) await run(base - 86_400n * second);
  t.is(await run(base), 'statistics:ran');
});

test('rows without a line elsewhere in an hour do not change what the backend counts in a part of it', async (t) => {
  const account = 72_006;
  const entry = (minutes: number, line: string): StoredEntry => ({
    ns: base + BigInt(minutes) * 60n * second,
    ...{ stream: { app: 'a' }, line, metadata: { status: '200' } },
  });
  // There are as many rows without a line in the rest of the hour as rows with a line in the first ten minutes.
  const [inside, outside] = [
    [1, 4, 7],
    [20, 30, 40],
  ];
  await store.push(account, [
    ...inside.map((minutes) => entry(minutes, '{"status":"500"}')),
    ...outside.map((minutes) => entry(minutes, '')),
  ]);
  const text = 'sum(count_over_time({app="a"}[600s]))';
  const ask = async (minutes: bigint, names: readonly string[]): Promise<unknown> => {
    const request = rangeRequest(text, base + 600n * second, base + minutes * 60n * second, 600n * second);
    const some = strategies.filter(({ name }) => names.includes(name));
    return valuesOf((await store.run(request, { account, strategies: some })).answer);
  };
  await ask(60n, ['statistics']);
  const found = await ask(10n, ['fields', 'whole-rows']);
  t.deepEqual(found, await ask(10n, ['whole-rows']));
});

test('what data has shown to be impossible is not tried again for a while', async (t) => {
  const account = 72_004;
  const entries = Array.from({ length: 300 }, (_, index): StoredEntry => {
    const ns = base + BigInt(index + 1) * 1_000_000n;
    return { ns, stream: { app: 'a' }, line: `{"id":${index},"user":"${'x'.repeat(100)}"}` };
  });
  await store.push(account, entries);
  const text = 'sum by (id) (count_over_time({app="a"} | json [60s]))';
  const request = rangeRequest(text, base, base + 60n * second, 60n * second);
  for (const isAsked of [true, false]) {
    const { calls, tried } = await store.run(request, { account });
    t.is(tried[0], 'statistics:lines-differ');
    t.is(
      calls.some(({ strategy }) => strategy === 'statistics'),
      isAsked,
    );
  }
});
