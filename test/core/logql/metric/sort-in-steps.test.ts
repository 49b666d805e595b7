import test from 'ava';
import fc from 'fast-check';
import { LabelSet } from '../../../../core/base/label-set.js';
import { gridColumns, defaultMetricLimits, RangeEngine } from '../../../../core/logql/metric/index.js';
import { ascending, sortInSteps } from '../../../../core/logql/metric/states.js';
import { doAll, Pacer } from '../../../../core/base/pace/steps.js';
import { metricExpr } from './run-query.js';

const sizes = fc.constantFrom(0, 1, 2, 8191, 8192, 8193, 20_000, 40_000);

test('numbers come out in order, whatever their count', (t) => {
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 1_000_000 }), (size, seed) => {
      const values = Float64Array.from({ length: size }, (_, index) =>
        index % 97 === 0 ? NaN : Math.imul(index + seed, 2_654_435_761),
      );
      const wanted = Float64Array.from(values).sort();
      t.deepEqual(doAll(sortInSteps(values, new Float64Array(size), ascending)), wanted);
    }),
    { numRuns: 30 },
  );
});

test('a long sort is done in many steps', (t) => {
  const steps = sortInSteps(new Float64Array(100_000).fill(1), new Float64Array(100_000), ascending);
  let count = 0;
  while (steps.next().done !== true) count += 1;
  t.true(count > 40);
});

for (const op of [
  'quantile_over_time(0.9, {a="b"} | unwrap v [7s])',
  'rate_counter({a="b"} | unwrap v [7s])',
]) {
  test(`${op} of many values is the same when it is made ready with pauses`, async (t) => {
    const expr = metricExpr(op);
    if (expr.kind !== 'range-aggregation') throw new Error('no range aggregation');
    const startMs = 1_793_491_200_000;
    const columns = gridColumns({ kind: 'range', startMs, endMs: startMs + 60_000, stepMs: 5_000 });
    const fill = (): RangeEngine => {
      const engine = new RangeEngine(expr, columns, defaultMetricLimits);
      const sets = ['many', 'few'].map((name) => LabelSet.from([['name', name]]));
      for (let index = 0; index < 30_000; index += 1) {
        const labels = sets[index % 1000 === 0 ? 1 : 0];
        const atNs = BigInt(startMs) * 1_000_000n + BigInt(Math.imul(index, 7919) % 60_000) * 1_000_000n;
        if (labels !== undefined) engine.add(labels, atNs, Math.imul(index, 104_729) % 977);
      }
      return engine;
    };
    const ready = fill();
    await ready.prepare(new Pacer(new AbortController().signal));
    t.deepEqual([...ready.rows()], [...fill().rows()]);
  });
}

test('a client that goes away ends what is being made ready', async (t) => {
  const expr = metricExpr('quantile_over_time(0.9, {a="b"} | unwrap v [1m])');
  if (expr.kind !== 'range-aggregation') throw new Error('no range aggregation');
  const engine = new RangeEngine(
    expr,
    gridColumns({ kind: 'instant', timeNs: 60_000_000_000n }),
    defaultMetricLimits,
  );
  for (let index = 0; index < 1_000_000; index += 1) engine.add(LabelSet.empty, 30_000_000_000n, index);
  await t.throwsAsync(engine.prepare(new Pacer(AbortSignal.abort(new Error('gone')))), { message: 'gone' });
});
