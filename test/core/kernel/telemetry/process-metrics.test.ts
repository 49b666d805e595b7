import test from 'ava';
import { Registry } from 'prom-client';
import { processMetrics, registerProcessMetrics } from '../../../../core/kernel/telemetry/process-metrics.js';

test('every figure of the process that is documented is exposed, with and without the prefix', async (t) => {
  const registry = new Registry();
  registerProcessMetrics(registry);
  const names = (await registry.getMetricsAsJSON()).map(({ name }) => name);
  const documented = Object.keys(processMetrics());
  t.deepEqual(names.toSorted(), [...documented, ...documented.map((name) => `ref_proxy_${name}`)].toSorted());
});

test('processor time is a counter, and tells what the process has used however often it is read', async (t) => {
  const registry = new Registry();
  registerProcessMetrics(registry);
  await registry.metrics();
  const metric = await registry.getSingleMetric('process_cpu_seconds_total')?.get();
  const { user, system } = process.cpuUsage();
  t.is(String(metric?.type), 'counter');
  const shown = metric?.values[0]?.value ?? 0;
  t.true(shown > 0 && shown <= (user + system) / 1e6);
});
