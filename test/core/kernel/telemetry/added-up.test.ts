import test from 'ava';
import { AddedUp } from '../../../../core/kernel/telemetry/added-up.js';
import { expose } from '../../../../core/kernel/telemetry/exposition.js';
import { MeterRegistry } from '../../../../core/kernel/telemetry/meters.js';

const metrics = {
  asked_total: { type: 'counter', help: 'a', labels: ['kind'] },
  held: { type: 'gauge', help: 'b' },
  worst: { type: 'gauge', help: 'c', ofWorkers: 'max' },
  lowest: { type: 'gauge', help: 'd', ofWorkers: 'min' },
  took: { type: 'histogram', help: 'e', buckets: [1, 2] },
} as const;

function makeWorker() {
  const registry = new MeterRegistry();
  return { registry, meters: registry.create(metrics) };
}

async function shown(sums: AddedUp): Promise<readonly string[]> {
  const { text } = await expose(await sums.measurements([]));
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('measurements of workers are added up or merged, and counts outlive who counted', async (t) => {
  const sums = new AddedUp();
  const [one, two] = [makeWorker(), makeWorker()];
  for (const [at, { meters }] of [one, two].entries()) {
    meters.asked_total.add(2 + at, { kind: 'x' });
    meters.held.set(10 + at, {});
    meters.worst.set(at, {});
    meters.lowest.set(5 + at, {});
    meters.took.observe(0.5 + at, {});
  }
  two.meters.asked_total.add(1, { kind: 'y' });
  const update = async (): Promise<void> => {
    sums.update(1, await one.registry.measurements());
    // Serialized as between processes.
    sums.update(2, JSON.parse(JSON.stringify(await two.registry.measurements())) as never);
  };
  await update();
  const both = [
    'ref_proxy_asked_total{kind="x"} 5',
    'ref_proxy_asked_total{kind="y"} 1',
    'ref_proxy_held 21',
    'ref_proxy_worst 1',
    'ref_proxy_lowest 5',
    'ref_proxy_took_bucket{le="1"} 1',
    'ref_proxy_took_bucket{le="2"} 2',
    'ref_proxy_took_bucket{le="+Inf"} 2',
    'ref_proxy_took_sum 2',
    'ref_proxy_took_count 2',
  ];
  t.deepEqual(await shown(sums), both);
  sums.ended(2);
  const left = (await shown(sums)).filter((line) => !/took|asked/.test(line));
  t.deepEqual(left, ['ref_proxy_held 10', 'ref_proxy_worst 0', 'ref_proxy_lowest 5']);
  t.deepEqual(
    (await shown(sums)).filter((line) => /took|asked/.test(line)).sort(),
    both.filter((line) => /took|asked/.test(line)).sort(),
  );
  const again = makeWorker();
  again.meters.asked_total.add(4, { kind: 'y' });
  sums.update(2, await again.registry.measurements());
  sums.ended(2);
  t.true((await shown(sums)).includes('ref_proxy_asked_total{kind="y"} 5'));
});
